//! From addresses in this executable to names of functions.

use anyhow::{Context as _, Result};
use object::{Object as _, ObjectSymbol as _, SymbolKind};

/// The functions of this executable by address.
pub struct Symbols {
    functions: Vec<(u64, String)>,
}

impl Symbols {
    /// Reads them from the executable file.
    pub fn read() -> Result<Self> {
        let bytes = std::fs::read(std::env::current_exe()?)?;
        let file = object::File::parse(bytes.as_slice()).context("the executable is no ELF file")?;
        let functions = file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.address() > 0);
        let functions = functions.filter_map(|symbol| Some((symbol.address(), symbol.name().ok()?.to_owned())));
        let mut functions: Vec<_> = functions.collect();
        functions.sort();
        Ok(Self { functions })
    }

    /// The function around an address, without its parameters; `None` outside of the executable.
    pub fn name(&self, address: u64) -> Option<String> {
        let after = self.functions.partition_point(|(start, _)| *start <= address);
        let (start, name) = self.functions.get(after.checked_sub(1)?)?;
        // Nothing is so large: the address lies in another library.
        (address - start < 1 << 20).then(|| demangle(name))
    }
}

fn demangle(name: &str) -> String {
    let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
    let demangled = cpp_demangle::Symbol::new(name).ok().and_then(|symbol| symbol.demangle_with_options(&options).ok());
    let name = demangled.unwrap_or_else(|| name.to_owned());
    // Rust's hash, and what templates were made for.
    let name = match name.rfind("::h") {
        Some(hash) if name.len() - hash == 19 => name[..hash].to_owned(),
        _ => name,
    };
    let mut plain = String::new();
    let mut depth = 0_usize;
    for character in name.replace("operator<<", "operator-shl").chars() {
        match character {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => plain.push(character),
            _ => {}
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::{Symbols, demangle};

    #[test]
    fn names_lose_parameters_and_hashes() {
        assert_eq!(demangle("_ZN4mlir9Operation4dropEPvi"), "mlir::Operation::drop");
        assert_eq!(demangle("_ZN9symm_fuzz5thing17h0123456789abcdefE"), "symm_fuzz::thing");
    }

    /// The compiler may leave out the name of a test itself.
    #[inline(never)]
    fn named_for_the_search() -> u32 {
        std::hint::black_box(7)
    }

    #[test]
    fn a_function_of_this_executable_is_found() {
        assert_eq!(named_for_the_search(), 7);
        let symbols = Symbols::read().expect("the test's own executable");
        let named = symbols.functions.iter().any(|(_, name)| name.contains("named_for_the_search"));
        assert!(named, "{} symbols", symbols.functions.len());
        assert_eq!(symbols.name(u64::MAX), None);
    }
}
