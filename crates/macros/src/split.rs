//! Generates the port set as ports: `OpsPorts`, one port for each variant, and a `post` that finds the right port.

use proc_macro2::TokenStream as Tokens;
use quote::{format_ident, quote};

use crate::variants::Set;

/// Returns the code of the type `OpsPorts`, its methods and its trait implementations.
pub(crate) fn write(set: &Set<'_>) -> Tokens {
    let (name, visibility) = (&set.input.ident, &set.input.vis);
    let ports = format_ident!("{name}Ports");
    let (generics, arguments, bounds) = set.input.generics.split_for_impl();
    let declared = &set.input.generics;
    let fields: Vec<_> = set.variants.iter().map(|variant| &variant.field).collect();
    let payloads: Vec<_> = set.variants.iter().map(|variant| &variant.payload).collect();
    let patterns: Vec<_> = set.variants.iter().map(|variant| &variant.pattern).collect();
    let parts: Vec<_> = set.variants.iter().map(|variant| &variant.parts).collect();
    let suffixes: Vec<_> = set.variants.iter().map(|variant| format!(".{}", variant.snake)).collect();
    let page = format!(
        "The ports of [`{name}`]: one for each variant, each in its own order. The fields may be replaced before use."
    );
    let of_fields = set.variants.iter().map(|variant| format!("What [`{name}::{}`] carries.", variant.name));
    quote! {
        #[doc = #page]
        #[allow(dead_code, reason = "a program need not use every part of a set")]
        #visibility struct #ports #declared #bounds {
            #(#[doc = #of_fields] #visibility #fields: ::lehr_runtime::Port<#payloads>,)*
        }

        #[automatically_derived]
        #[allow(dead_code, reason = "a program need not use every part of a set")]
        impl #generics #ports #arguments #bounds {
            /// Creates a set of open, empty ports without names.
            #visibility fn new() -> Self {
                Self { #(#fields: ::lehr_runtime::Port::new(),)* }
            }

            /// Creates a set of open, empty ports, named after the set and the variant.
            #visibility fn named(name: impl ::core::convert::Into<::std::string::String>) -> Self {
                let name: ::std::string::String = name.into();
                Self { #(#fields: ::lehr_runtime::Port::named(::std::format!("{}{}", name, #suffixes)),)* }
            }

            /// Posts a message to the port of its variant.
            ///
            /// # Errors
            /// Returns the message, reassembled, if the port refuses it.
            #visibility fn post(
                &self,
                message: #name #arguments,
            ) -> ::core::result::Result<(), ::lehr_runtime::PostError<#name #arguments>> {
                match message {
                    #(#patterns => self.#fields.post(#parts).map_err(|refused| {
                        let #parts = refused.item;
                        ::lehr_runtime::PostError { item: #patterns, reason: refused.reason }
                    }),)*
                }
            }

            /// Closes all ports, one after the other.
            #visibility fn close(&self) {
                #(self.#fields.close();)*
            }

            /// Returns the total number of items in the ports.
            #visibility fn len(&self) -> usize {
                0 #(+ self.#fields.len())*
            }

            /// Returns whether all ports are empty.
            #visibility fn is_empty(&self) -> bool {
                self.len() == 0
            }
        }

        #[automatically_derived]
        impl #generics ::core::clone::Clone for #ports #arguments #bounds {
            fn clone(&self) -> Self {
                Self { #(#fields: ::core::clone::Clone::clone(&self.#fields),)* }
            }
        }

        #[automatically_derived]
        impl #generics ::core::default::Default for #ports #arguments #bounds {
            fn default() -> Self {
                Self::new()
            }
        }

        #[automatically_derived]
        impl #generics ::core::fmt::Debug for #ports #arguments #bounds {
            fn fmt(&self, formatter: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                formatter.debug_list() #(.entry(&self.#fields))* .finish()
            }
        }
    }
}
