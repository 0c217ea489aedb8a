//! The derive macros of `lehr_runtime` and `lehr_services`. Use the macros through these crates, because their output
//! contains names of these crates.
//!
//! `PortSet` makes a set of ports from an enum. `variants.rs` says which enums are allowed and how the names of the
//! parts are formed; `one_queue.rs` and `split.rs` generate the two modes. This crate does not know how a port works.
//! `Operation` (`operation.rs`) makes a struct an operation of a service.
#![forbid(unsafe_code)]

mod one_queue;
mod operation;
mod split;
mod variants;

use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;
use syn::{DeriveInput, parse_macro_input};

use variants::{Mode, Set};

/// Makes a set of ports from an enum of messages, with a variant for each kind of message.
///
/// Without options, `enum Ops` gets the type `OpsPort`: one queue for messages of all kinds, which keeps their order of
/// arrival. `OpsPort` has a receive method for each kind. With `#[port_set(split)]`, `Ops` gets the type `OpsPorts`: a
/// separate port for each kind, for joins and capacities, and a `post` that finds the right port. For examples and the
/// generated code, see the module page of `lehr_runtime::port_set`.
///
/// # Errors
/// Fails at compile time if the type is not an enum with variants, if two variants give the same name, or on an unknown
/// option.
#[proc_macro_derive(PortSet, attributes(port_set))]
pub fn port_set(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a struct an operation of a service.
///
/// `#[operation(contract = …, verb = …, name = "…")]` gives the contract that the operation belongs to, its verb, and
/// its name. Further options:
/// - `reply = …`: the type of the answer (default: `()`).
/// - `key = …`: the field by which subscribers choose changes, or the path to it, such as `body.job`.
/// - `raw("…")`: media types of bodies that the operation takes unchanged.
/// - `body`: for a struct with one field that is the whole message, in place of a derived `JsonSchema`. The struct's
///   schema is the field's schema, and `of` makes the struct from the field.
///
/// For examples, see `lehr_services::Operation`.
///
/// # Errors
/// Fails at compile time if the type is not a struct, or if an option is missing, unknown or given twice. The derive
/// also fails if the name has characters other than lower-case letters, digits and underscores.
#[proc_macro_derive(Operation, attributes(operation))]
pub fn operation(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    operation::write(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

fn expand(input: &DeriveInput) -> syn::Result<Tokens> {
    let set = Set::read(input)?;
    Ok(match set.mode {
        Mode::OneQueue => one_queue::write(&set),
        Mode::Split => split::write(&set),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(input: &str) -> String {
        expand(&syn::parse_str(input).unwrap()).unwrap_err().to_string()
    }

    #[test]
    fn faults_are_named_where_the_user_can_mend_them() {
        assert_eq!(
            error("struct Ops { a: u8 }"),
            "a port set is made from an enum: one variant for each kind of message"
        );
        assert_eq!(error("enum Ops {}"), "a port set needs a variant: an enum without one has no messages");
        assert_eq!(error("enum Ops { AB(u8), Ab(u8) }"), "`Ab` and `AB` would both be called `ab`: rename one of them");
        assert_eq!(error("#[port_set(fast)] enum Ops { A }"), "unknown option; the only one is `split`");
        assert_eq!(
            error("enum Ops { Super(u8) }"),
            "`super` cannot be the name of a method or field: rename this variant"
        );
        assert_eq!(
            error("enum Ops { #[port_set(split)] A }"),
            "options stand on the enum, not on a variant: a port of its own goes with `#[port_set(split)]` on the enum"
        );
    }

    #[test]
    fn both_modes_give_items_that_parse() {
        for option in ["", "#[port_set(split)]"] {
            let input = format!(
                "{option} pub enum Ops<T: Clone> {{ Add(T), Pair(u8, T), Named {{ x: u8, y: T }}, r#Type, Stop }}"
            );
            let tokens = expand(&syn::parse_str(&input).unwrap()).unwrap();
            syn::parse2::<syn::File>(tokens).unwrap();
        }
    }
}
