//! What a module that an interpreter loads says to the linker: on macOS, that Python's names come later.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
