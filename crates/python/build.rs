//! Tells the linker, on macOS, that the interpreter provides Python's symbols when it loads the module.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
