//! Generates the port set as one queue: for `enum Ops`, the type `OpsPort`, a port of the enum with a receive method
//! for each variant.

use proc_macro2::TokenStream as Tokens;
use quote::{format_ident, quote};

use crate::variants::{Set, Variant};

/// Returns the code of the type `OpsPort`, its methods and its trait implementations.
pub(crate) fn write(set: &Set<'_>) -> Tokens {
    let (name, visibility) = (&set.input.ident, &set.input.vis);
    let port = format_ident!("{name}Port");
    let (generics, arguments, bounds) = set.input.generics.split_for_impl();
    let declared = &set.input.generics;
    let page =
        format!("A port of [`{name}`]: one queue for all its variants, in order of arrival, and a receive for each.");
    let methods = set.variants.iter().map(|variant| methods(set, variant));
    quote! {
        #[doc = #page]
        #[allow(dead_code, reason = "a program need not use every part of a set")]
        #visibility struct #port #declared #bounds {
            port: ::lehr_runtime::Port<#name #arguments>,
        }

        #[automatically_derived]
        #[allow(dead_code, reason = "a program need not use every part of a set")]
        impl #generics #port #arguments #bounds {
            /// Creates a set with an open, empty port without a name.
            #visibility fn new() -> Self {
                Self { port: ::lehr_runtime::Port::new() }
            }

            /// Creates a set with an open, empty port that has this name in messages.
            #visibility fn named(name: impl ::core::convert::Into<::std::string::String>) -> Self {
                Self { port: ::lehr_runtime::Port::named(name) }
            }

            #(#methods)*
        }

        #[automatically_derived]
        impl #generics ::core::clone::Clone for #port #arguments #bounds {
            fn clone(&self) -> Self {
                Self { port: ::core::clone::Clone::clone(&self.port) }
            }
        }

        #[automatically_derived]
        impl #generics ::core::default::Default for #port #arguments #bounds {
            fn default() -> Self {
                Self::new()
            }
        }

        #[automatically_derived]
        impl #generics ::core::convert::From<::lehr_runtime::Port<#name #arguments>> for #port #arguments #bounds {
            fn from(port: ::lehr_runtime::Port<#name #arguments>) -> Self {
                Self { port }
            }
        }

        #[automatically_derived]
        impl #generics ::core::ops::Deref for #port #arguments #bounds {
            type Target = ::lehr_runtime::Port<#name #arguments>;

            fn deref(&self) -> &Self::Target {
                &self.port
            }
        }

        #[automatically_derived]
        impl #generics ::core::fmt::Debug for #port #arguments #bounds {
            fn fmt(&self, formatter: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Debug::fmt(&self.port, formatter)
            }
        }
    }
}

fn methods(set: &Set<'_>, variant: &Variant<'_>) -> Tokens {
    let (name, visibility) = (&set.input.ident, &set.input.vis);
    let (_, arguments, _) = set.input.generics.split_for_impl();
    let Variant { name: kind, payload, pattern, parts, .. } = variant;
    let (post, receive, on) = (variant.method("post"), variant.method("receive"), variant.method("on"));
    let is_kind = quote!(|message: &#name #arguments| ::core::matches!(message, #name::#kind { .. }));
    // For an enum with one variant, the match needs no other arm.
    let other = (set.variants.len() > 1)
        .then(|| quote!(_ => ::core::unreachable!("the predicate accepted this variant only"),));
    let open = quote!(|message: #name #arguments| match message { #pattern => #parts, #other });
    let of_post = format!("Posts a [`{name}::{kind}`]; see [`Port::post`](::lehr_runtime::Port::post).");
    let of_receive = format!(
        "Waits for the oldest [`{name}::{kind}`] and gives what it carries; all else stays, in order. See \
         [`Port::receive_if`](::lehr_runtime::Port::receive_if)."
    );
    let of_on = format!(
        "Registers a handler for every [`{name}::{kind}`]; all else stays, in order. See \
         [`Port::on_if`](::lehr_runtime::Port::on_if)."
    );
    quote! {
        #[doc = #of_post]
        #visibility fn #post(
            &self,
            message: #payload,
        ) -> ::core::result::Result<(), ::lehr_runtime::PostError<#name #arguments>> {
            let #parts = message;
            self.port.post(#pattern)
        }

        #[doc = #of_receive]
        #[must_use = "a receive does nothing unless awaited"]
        #visibility fn #receive(
            &self,
        ) -> impl ::lehr_runtime::Cancellable<Output = ::core::result::Result<#payload, ::lehr_runtime::ReceiveError>> + '_ {
            ::lehr_runtime::Cancellable::map(self.port.receive_if(#is_kind), |received| received.map(#open))
        }

        #[doc = #of_on]
        #visibility fn #on<Handler, Turn>(
            &self,
            dispatcher: &::lehr_runtime::Handle,
            concurrency: usize,
            handler: Handler,
        ) -> ::lehr_runtime::Receiver
        where
            #name #arguments: ::core::marker::Send + 'static,
            Handler: ::core::ops::Fn(#payload) -> Turn + ::core::marker::Send + ::core::marker::Sync + 'static,
            Turn: ::core::future::Future<Output = ()> + ::core::marker::Send,
        {
            let open = #open;
            self.port.on_if(dispatcher, concurrency, #is_kind, move |message| handler(open(message)))
        }
    }
}
