//! Tells the linker, on macOS, that the interpreter provides Python's symbols when it loads the module. Tells the code
//! whether the interpreter has a lock (`Py_GIL_DISABLED`).

fn main() {
    pyo3_build_config::add_extension_module_link_args();
    pyo3_build_config::use_pyo3_cfgs();
}
