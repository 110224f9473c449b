//! What the environment says about the ranks: variables of torchrun, Open MPI and Slurm.

use std::hash::{DefaultHasher, Hasher};
use std::time::Duration;

use crate::control::MAX_RANKS;
use crate::error::Error;

/// How long ranks wait for each other to start, when nothing else is said.
const DEADLINE: Duration = Duration::from_secs(30);

/// This process's place in a run with a process for each rank.
#[derive(Debug, Clone)]
pub struct Bootstrap {
    /// Time for all ranks to join; 30 seconds unless changed.
    pub deadline: Duration,
    /// What has to be the same on all ranks, such as a hash of the program and its options.
    pub fingerprint: Vec<u8>,
    pub(crate) rank: u32,
    pub(crate) num_ranks: u32,
    /// Name of the socket that rank 0 listens on, in Linux's abstract namespace: it is no file and ends with rank 0.
    pub(crate) socket: String,
}

/// One launcher's names for the same things.
struct Launcher {
    rank: &'static str,
    num_ranks: &'static str,
    /// Ranks on this host, where the launcher says so.
    local: &'static str,
    hosts: &'static str,
    /// What tells one run from another.
    run: &'static [&'static str],
}

const LAUNCHERS: [Launcher; 3] = [
    Launcher {
        rank: "RANK",
        num_ranks: "WORLD_SIZE",
        local: "LOCAL_WORLD_SIZE",
        hosts: "GROUP_WORLD_SIZE",
        run: &["TORCHELASTIC_RUN_ID"],
    },
    Launcher {
        rank: "OMPI_COMM_WORLD_RANK",
        num_ranks: "OMPI_COMM_WORLD_SIZE",
        local: "OMPI_COMM_WORLD_LOCAL_SIZE",
        hosts: "OMPI_MCA_orte_num_nodes",
        run: &["PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"],
    },
    Launcher {
        rank: "SLURM_PROCID",
        num_ranks: "SLURM_NTASKS",
        local: "",
        hosts: "SLURM_NNODES",
        run: &["SLURM_JOB_ID", "SLURM_STEP_ID"],
    },
];

impl Bootstrap {
    /// Whether this process was started by torchrun, Open MPI or Slurm, as one rank of several.
    #[must_use]
    pub fn is_launched() -> bool {
        LAUNCHERS.iter().any(|launcher| std::env::var_os(launcher.rank).is_some())
    }

    /// Reads the variables that torchrun sets, or else Open MPI's, or else Slurm's.
    ///
    /// With torchrun those are `RANK`, `WORLD_SIZE`, `LOCAL_WORLD_SIZE`, `MASTER_PORT` and `TORCHELASTIC_RUN_ID`.
    /// `MASTER_PORT` and the run's id only tell runs apart: no network is used.
    ///
    /// # Errors
    /// [`Error::Environment`] for a missing or bad value, [`Error::SeveralHosts`] when ranks are elsewhere.
    pub fn from_env() -> Result<Self, Error> {
        Self::from_variables(|name| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned()))
    }

    fn from_variables(get: impl Fn(&str) -> Option<String>) -> Result<Self, Error> {
        let launcher = LAUNCHERS.iter().find(|launcher| get(launcher.rank).is_some()).unwrap_or(&LAUNCHERS[0]);
        let (rank, num_ranks) = (number(&get, launcher.rank)?, number(&get, launcher.num_ranks)?);
        let wrong = |variable: &str, problem| Error::Environment { variable: variable.to_owned(), problem };
        if num_ranks == 0 || num_ranks > MAX_RANKS {
            return Err(wrong(launcher.num_ranks, format!("is {num_ranks}, and a run has 1 to {MAX_RANKS} ranks")));
        }
        if rank >= num_ranks {
            return Err(wrong(launcher.rank, format!("is {rank}, and ranks are below {num_ranks}")));
        }
        let local = optional(&get, launcher.local)?.unwrap_or(num_ranks);
        if local != num_ranks {
            return Err(Error::SeveralHosts { world: num_ranks, local });
        }
        if optional(&get, launcher.hosts)?.is_some_and(|hosts| hosts > 1) {
            return Err(Error::SeveralHosts { world: num_ranks, local: num_ranks - 1 });
        }
        let port = optional(&get, "MASTER_PORT")?.unwrap_or(0);
        let mut run = DefaultHasher::new();
        for name in launcher.run {
            run.write(get(name).unwrap_or_default().as_bytes());
            run.write_u8(0);
        }
        let user = rustix::process::geteuid().as_raw();
        let socket = format!("symm-{user}-{port}-{:016x}", run.finish());
        Ok(Self { deadline: DEADLINE, fingerprint: Vec::new(), rank, num_ranks, socket })
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

fn number(get: &impl Fn(&str) -> Option<String>, name: &str) -> Result<u32, Error> {
    let missing = || Error::Environment { variable: name.to_owned(), problem: "is not set".to_owned() };
    optional(get, name)?.ok_or_else(missing)
}

fn optional(get: &impl Fn(&str) -> Option<String>, name: &str) -> Result<Option<u32>, Error> {
    get(name)
        .map(|value| {
            value.trim().parse().map_err(|_| Error::Environment {
                variable: name.to_owned(),
                problem: format!("is {value:?}, which is no number"),
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
        let slurm = from(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "2"), ("SLURM_NNODES", "1")]).unwrap();
        assert_eq!((slurm.rank(), slurm.num_ranks()), (0, 2));
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
        assert!(message(&[("RANK", "0")]).contains("WORLD_SIZE is not set"));
        assert!(message(&[("RANK", "x"), ("WORLD_SIZE", "2")]).contains("RANK is \"x\""));
        assert!(message(&[("RANK", "-1"), ("WORLD_SIZE", "2")]).contains("no number"));
        assert!(message(&[("RANK", "2"), ("WORLD_SIZE", "2")]).contains("below 2"));
        assert!(message(&[("RANK", "0"), ("WORLD_SIZE", "0")]).contains("1 to 128"));
        assert!(message(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "")]).contains("SLURM_NTASKS"));
    }

    #[test]
    fn several_hosts_are_refused() {
        let elsewhere = message(&[("RANK", "0"), ("WORLD_SIZE", "16"), ("LOCAL_WORLD_SIZE", "8")]);
        assert!(elsewhere.contains("16 ranks were started, but only 8 of them on this host"), "{elsewhere}");
        let slurm = from(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "2"), ("SLURM_NNODES", "2")]);
        assert!(matches!(slurm, Err(Error::SeveralHosts { .. })));
    }
}
