//! What the environment says about the ranks: variables of torchrun, Open MPI, MPICH and Slurm.

use std::hash::{DefaultHasher, Hasher};
use std::num::{IntErrorKind, ParseIntError};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::network::Network;
use super::rendezvous::Presence;
use crate::error::Error;
use crate::run::EngineOfGpus;
use symm_abi::heap::MAX_RANKS;

/// How long ranks wait for each other to start, by default.
const DEADLINE: Duration = Duration::from_secs(30);
/// What [`Error::SeveralHosts`] has users do.
const ONE_HOST: &str = "ranks reach each other through shared memory, so start all on one host";
/// Slurm's step numbers from here on are not started by srun: the batch script, an interactive shell.
const RESERVED_STEPS: u32 = 0xffff_fff0;

/// This process's place in a run with a process for each rank.
#[derive(Debug, Clone)]
pub struct Bootstrap {
    /// Time for all ranks to join; 30 seconds unless changed.
    pub deadline: Duration,
    /// What must be the same on all ranks, such as a hash of the program.
    pub fingerprint: Vec<u8>,
    /// The same for single values, each with the name that an error gives it. A name that only one rank has is a
    /// difference, too.
    pub options: Vec<(String, String)>,
    pub(crate) rank: u32,
    pub(crate) num_ranks: u32,
    /// Name of the socket that rank 0 listens on. It is in Linux's abstract namespace: not a file, and gone with rank
    /// 0.
    pub(crate) socket: String,
    /// What distinguishes the launcher's run from others.
    pub(super) run: String,
    /// Where the ranks meet, if they are on several hosts.
    pub(crate) network: Option<Network>,
    /// Whether the others already know that this rank is there.
    pub(super) presence: Arc<Mutex<Option<Presence>>>,
}

/// The variable that says that ranks are on other hosts, and its value.
type Elsewhere = (&'static str, u32);

/// The launcher that started this process as a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Launcher {
    /// torchrun, or [`crate::spawn_processes`].
    Torchrun,
    /// Open MPI's mpirun.
    OpenMpi,
    /// MPICH's or Intel MPI's mpirun, or another that speaks their PMI.
    Pmi,
    /// srun.
    Slurm,
}

/// One launcher's names of variables.
struct Variables {
    launcher: Launcher,
    rank: &'static str,
    /// Of several names, the first that is set counts.
    num_ranks: &'static [&'static str],
    /// Ranks on this host, where the launcher says so.
    local: &'static str,
    /// Otherwise, the number of hosts.
    hosts: &'static str,
    /// What distinguishes one run from another.
    run: &'static [&'static str],
}

const LAUNCHERS: [Variables; 4] = [
    Variables {
        launcher: Launcher::Torchrun,
        rank: "RANK",
        num_ranks: &["WORLD_SIZE"],
        local: "LOCAL_WORLD_SIZE",
        hosts: "GROUP_WORLD_SIZE",
        run: &["TORCHELASTIC_RUN_ID"],
    },
    Variables {
        launcher: Launcher::OpenMpi,
        rank: "OMPI_COMM_WORLD_RANK",
        num_ranks: &["OMPI_COMM_WORLD_SIZE"],
        local: "OMPI_COMM_WORLD_LOCAL_SIZE",
        hosts: "OMPI_MCA_orte_num_nodes",
        run: &["PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"],
    },
    Variables {
        launcher: Launcher::Pmi,
        rank: "PMI_RANK",
        num_ranks: &["PMI_SIZE"],
        local: "MPI_LOCALNRANKS",
        hosts: "SLURM_STEP_NUM_NODES",
        run: &["PMI_JOBID", "SLURM_JOB_ID", "SLURM_STEP_ID"],
    },
    Variables {
        launcher: Launcher::Slurm,
        rank: "SLURM_PROCID",
        num_ranks: &["SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"],
        local: "",
        hosts: "SLURM_NNODES",
        run: &["SLURM_JOB_ID", "SLURM_STEP_ID"],
    },
];

impl Variables {
    /// Whether this launcher has started this process. The number of ranks alone is not enough.
    fn are_set(&self, get: &impl Fn(&str) -> Option<String>) -> bool {
        let rank = get(self.rank);
        if self.launcher != Launcher::Slurm {
            return rank.is_some() || self.num_ranks.iter().any(|name| get(name).is_some());
        }
        // Slurm's script and shell have the variables of rank 0, and start the ranks.
        let step = get("SLURM_STEP_ID").and_then(|step| step.parse().ok());
        rank.is_some_and(|rank| step.map_or(rank.trim() != "0", |step: u32| step < RESERVED_STEPS))
    }

    fn num_ranks(&self, get: &impl Fn(&str) -> Option<String>) -> &'static str {
        let set = self.num_ranks.iter().find(|name| get(name).is_some());
        set.unwrap_or(&self.num_ranks[0])
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

fn launched_by(get: &impl Fn(&str) -> Option<String>) -> Option<&'static Variables> {
    LAUNCHERS.iter().find(|variables| variables.are_set(get))
}

impl Launcher {
    /// The variables that say how many ranks there are and which one this is, with their values.
    #[must_use]
    pub fn says(self) -> String {
        let set = LAUNCHERS.iter().filter(|variables| variables.launcher == self);
        let names = set.flat_map(|variables| [variables.rank, variables.num_ranks(&variable)]);
        let said = names.map(|name| format!("{name}={}", variable(name).unwrap_or_default()));
        said.collect::<Vec<_>>().join(", ")
    }
}

impl Bootstrap {
    /// The launcher that started this process as one rank of several, if any.
    #[must_use]
    pub fn launcher() -> Option<Launcher> {
        launched_by(&variable).map(|variables| variables.launcher)
    }

    /// Whether this process was started by torchrun, an MPI or Slurm, as one rank of several.
    #[must_use]
    pub fn is_launched() -> bool {
        Self::launcher().is_some()
    }

    /// Reads the variables that torchrun sets, or else Open MPI's, or else those of MPICH and Intel MPI, or else
    /// Slurm's.
    ///
    /// With torchrun those are `RANK`, `WORLD_SIZE`, `LOCAL_WORLD_SIZE`, `MASTER_PORT` and `TORCHELASTIC_RUN_ID`.
    /// `MASTER_PORT` and the run's id only distinguish runs: no network is used.
    ///
    /// # Errors
    /// [`Error::Environment`] for a missing or bad value, [`Error::SeveralHosts`] when ranks are elsewhere.
    pub fn from_env() -> Result<Self, Error> {
        Self::from_variables(variable)
    }

    /// As [`Bootstrap::from_env`], for a run that may have an engine of GPUs: then the ranks may be on several hosts,
    /// and meet at the host that `MASTER_ADDR` names, at the port `SYMM_PORT` or else the one after `MASTER_PORT`.
    /// `otherwise` is what users can do without an engine if there are several hosts.
    ///
    /// # Errors
    /// As those, and [`Error::Meeting`].
    pub fn for_engine(engine: Option<&EngineOfGpus>, otherwise: Option<&'static str>) -> Result<Self, Error> {
        if engine.is_some() {
            return Self::wherever();
        }
        Self::from_env().map_err(|mut error| {
            if let (Error::SeveralHosts { mend, .. }, Some(told)) = (&mut error, otherwise) {
                *mend = told;
            }
            error
        })
    }

    /// As [`Bootstrap::from_env`], for ranks of one host or of several.
    ///
    /// # Errors
    /// As those, and [`Error::Meeting`].
    pub fn wherever() -> Result<Self, Error> {
        Self::on_any_hosts(&variable)
    }

    pub(super) fn on_any_hosts(get: &impl Fn(&str) -> Option<String>) -> Result<Self, Error> {
        let (mut bootstrap, elsewhere) = Self::read(get)?;
        bootstrap.network = elsewhere.map(|_| Network::from_variables(get)).transpose()?;
        Ok(bootstrap)
    }

    pub(super) fn from_variables(get: impl Fn(&str) -> Option<String>) -> Result<Self, Error> {
        let (bootstrap, elsewhere) = Self::read(&get)?;
        let world = bootstrap.num_ranks;
        match elsewhere {
            Some((variable, value)) => Err(Error::SeveralHosts { world, variable, value, mend: ONE_HOST }),
            None => Ok(bootstrap),
        }
    }

    /// What the variables say; and the one that says that ranks are elsewhere, if one does.
    fn read(get: &impl Fn(&str) -> Option<String>) -> Result<(Self, Option<Elsewhere>), Error> {
        let launcher = launched_by(get).unwrap_or(&LAUNCHERS[0]);
        let ranks_from = launcher.num_ranks(get);
        let wrong = |variable: &str, problem| Error::Environment { variable: variable.to_owned(), problem };
        if get(launcher.rank).is_none() && get(ranks_from).is_some() {
            let problem = format!("is not set, but {ranks_from} is (if no launcher starts the ranks, unset that)");
            return Err(wrong(launcher.rank, problem));
        }
        let (rank, num_ranks) = (number(get, launcher.rank)?, number(get, ranks_from)?);
        if num_ranks == 0 || num_ranks > MAX_RANKS {
            return Err(wrong(ranks_from, format!("is {num_ranks}, and a run has 1 to {MAX_RANKS} ranks")));
        }
        if rank >= num_ranks {
            return Err(wrong(launcher.rank, format!("is {rank}, and ranks are below {num_ranks}")));
        }
        let elsewhere = elsewhere(get, rank, num_ranks)?;
        let port = optional(get, "MASTER_PORT")?.unwrap_or(0);
        let mut run = DefaultHasher::new();
        for name in launcher.run {
            run.write(get(name).unwrap_or_default().as_bytes());
            run.write_u8(0);
        }
        let user = rustix::process::geteuid().as_raw();
        let run = format!("{:016x}", run.finish());
        let socket = format!("symm-{user}-{port}-{run}");
        let (deadline, network) = (DEADLINE, None);
        let (fingerprint, options, presence) = Default::default();
        Ok((Self { deadline, fingerprint, options, rank, num_ranks, socket, run, network, presence }, elsewhere))
    }

    /// This process's rank, from 0.
    #[must_use]
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// How many ranks there are.
    #[must_use]
    pub fn num_ranks(&self) -> u32 {
        self.num_ranks
    }
}

/// What says that ranks are elsewhere. Scripts give torchrun's variables the values of another launcher's, and may
/// leave out those that tell of hosts: then the other's do.
fn elsewhere(get: &impl Fn(&str) -> Option<String>, rank: u32, num_ranks: u32) -> Result<Option<Elsewhere>, Error> {
    let says = |name: &str, value: u32| get(name).is_some_and(|text| text.trim().parse() == Ok(value));
    let agrees = |launcher: &&Variables| says(launcher.rank, rank) && says(launcher.num_ranks(get), num_ranks);
    for launcher in LAUNCHERS.iter().filter(|launcher| launcher.are_set(get)).filter(agrees) {
        match (optional(get, launcher.local)?, optional(get, launcher.hosts)?) {
            (Some(local), _) => return Ok((local != num_ranks).then_some((launcher.local, local))),
            (None, Some(hosts)) => return Ok((hosts > 1).then_some((launcher.hosts, hosts))),
            (None, None) => {}
        }
    }
    Ok(None)
}

fn number(get: &impl Fn(&str) -> Option<String>, name: &str) -> Result<u32, Error> {
    let missing = || Error::Environment { variable: name.to_owned(), problem: "is not set".to_owned() };
    optional(get, name)?.ok_or_else(missing)
}

pub(super) fn optional(get: &impl Fn(&str) -> Option<String>, name: &str) -> Result<Option<u32>, Error> {
    get(name)
        .map(|value| {
            value.trim().parse().map_err(|error: ParseIntError| {
                let large = *error.kind() == IntErrorKind::PosOverflow;
                let problem = format!("is {value:?}, which is {}", if large { "too large" } else { "no number" });
                Error::Environment { variable: name.to_owned(), problem }
            })
        })
        .transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(variables: &[(&str, &str)]) -> Result<Bootstrap, Error> {
        Bootstrap::from_variables(|name| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    fn message(variables: &[(&str, &str)]) -> String {
        from(variables).unwrap_err().to_string()
    }

    #[test]
    fn each_launcher_is_understood() {
        let torch =
            from(&[("RANK", "1"), ("WORLD_SIZE", "4"), ("LOCAL_WORLD_SIZE", "4"), ("SLURM_PROCID", "0")]).unwrap();
        assert_eq!((torch.rank(), torch.num_ranks()), (1, 4));
        let mpi = from(&[("OMPI_COMM_WORLD_RANK", "2"), ("OMPI_COMM_WORLD_SIZE", "3")]).unwrap();
        assert_eq!((mpi.rank(), mpi.num_ranks()), (2, 3));
        let mpich =
            from(&[("PMI_RANK", "3"), ("PMI_SIZE", "4"), ("SLURM_PROCID", "0"), ("SLURM_NTASKS", "9")]).unwrap();
        assert_eq!((mpich.rank(), mpich.num_ranks()), (3, 4));
        let slurm =
            from(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "2"), ("SLURM_NNODES", "1"), ("SLURM_STEP_ID", "0")]);
        assert_eq!(slurm.map(|slurm| (slurm.rank(), slurm.num_ranks())).unwrap(), (0, 2));
        let step =
            [("SLURM_PROCID", "0"), ("SLURM_NTASKS", "8"), ("SLURM_STEP_ID", "3"), ("SLURM_STEP_NUM_TASKS", "2")];
        assert_eq!(from(&step).unwrap().num_ranks(), 2, "of this step");
    }

    #[test]
    fn slurms_script_is_no_rank() {
        let is_launched = |variables: &[(&str, &str)]| {
            let get = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
            launched_by(&get).is_some()
        };
        let script = [("SLURM_PROCID", "0"), ("SLURM_NTASKS", "4")];
        assert!(!is_launched(&script) && !is_launched(&script[1..]));
        assert!(!is_launched(&[script[0], script[1], ("SLURM_STEP_ID", "4294967290")]), "an interactive step");
        assert!(is_launched(&[script[0], script[1], ("SLURM_STEP_ID", "0")]));
        assert!(is_launched(&[("SLURM_PROCID", "1"), script[1]]));
        assert!(is_launched(&[("WORLD_SIZE", "2")]), "some of torchrun's variables");
        assert!(!is_launched(&[]));
    }

    #[test]
    fn runs_have_sockets_of_their_own() {
        let socket = |port, run| {
            from(&[("RANK", "0"), ("WORLD_SIZE", "1"), ("MASTER_PORT", port), ("TORCHELASTIC_RUN_ID", run)])
                .unwrap()
                .socket
        };
        assert_eq!(socket("1", "a"), socket("1", "a"));
        assert_ne!(socket("1", "a"), socket("2", "a"));
        assert_ne!(socket("1", "a"), socket("1", "b"));
        assert!(socket("1", &"x".repeat(1000)).len() < 100, "a socket's name is short");
    }

    #[test]
    fn bad_values_name_the_variable() {
        assert!(message(&[]).contains("RANK is not set"));
        assert!(message(&[("WORLD_SIZE", "2")]).contains("RANK is not set"));
        assert!(message(&[("PMI_SIZE", "2")]).contains("PMI_RANK is not set, but PMI_SIZE is"));
        assert!(message(&[("RANK", "0")]).contains("WORLD_SIZE is not set"));
        assert!(message(&[("RANK", "x"), ("WORLD_SIZE", "2")]).contains("RANK is \"x\""));
        assert!(message(&[("RANK", "-1"), ("WORLD_SIZE", "2")]).contains("no number"));
        assert!(message(&[("RANK", "2"), ("WORLD_SIZE", "2")]).contains("below 2"));
        assert!(message(&[("RANK", "0"), ("WORLD_SIZE", "4294967297")]).contains("too large"));
        assert!(message(&[("RANK", "0"), ("WORLD_SIZE", "0")]).contains("1 to 128"));
        assert!(message(&[("SLURM_PROCID", "1"), ("SLURM_NTASKS", "")]).contains("SLURM_NTASKS"));
    }

    #[test]
    fn several_hosts_are_refused() {
        let elsewhere = message(&[("RANK", "0"), ("WORLD_SIZE", "16"), ("LOCAL_WORLD_SIZE", "8")]);
        assert!(elsewhere.contains("16 ranks were started, but not all on this host (LOCAL_WORLD_SIZE is 8)"));
        let slurm = [("SLURM_PROCID", "0"), ("SLURM_NTASKS", "4"), ("SLURM_NNODES", "2"), ("SLURM_STEP_ID", "0")];
        assert!(message(&slurm).contains("(SLURM_NNODES is 2)"));
    }

    #[test]
    fn several_hosts_meet_where_the_variables_say() {
        let network = |variables: &[(&str, &str)]| {
            let get = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
            Bootstrap::on_any_hosts(&get).unwrap().network.map(|network| network.to_string())
        };
        let set = [("RANK", "9"), ("WORLD_SIZE", "16"), ("MASTER_ADDR", "node0"), ("MASTER_PORT", "29500")];
        assert_eq!(network(&[&set[..], &[("LOCAL_WORLD_SIZE", "8")]].concat()).unwrap(), "port 29501 of node0");
        assert_eq!(network(&[&set[..], &[("LOCAL_WORLD_SIZE", "16")]].concat()), None);
    }

    #[test]
    fn another_launcher_tells_of_hosts_where_torchruns_variables_do_not() {
        let set = [("RANK", "9"), ("WORLD_SIZE", "16")];
        let with = |more: &[(&str, &str)]| from(&[&set[..], more].concat());
        let mpi = [("OMPI_COMM_WORLD_RANK", "9"), ("OMPI_COMM_WORLD_SIZE", "16"), ("OMPI_COMM_WORLD_LOCAL_SIZE", "8")];
        let told = |more: &[(&str, &str)]| with(more).unwrap_err().to_string();
        assert!(told(&mpi).contains("(OMPI_COMM_WORLD_LOCAL_SIZE is 8)"));
        let slurm = [("SLURM_PROCID", "9"), ("SLURM_NTASKS", "16"), ("SLURM_NNODES", "2")];
        assert!(told(&slurm).contains("(SLURM_NNODES is 2)"));
        // It has started something else, or torchrun's own say it.
        assert!(with(&[slurm[0], ("SLURM_NTASKS", "2"), slurm[2]]).is_ok());
        assert!(with(&[&slurm[..], &[("LOCAL_WORLD_SIZE", "16")]].concat()).is_ok());
    }
}
