//! Reads the declaration of a port set: an enum, its variants, and the method and field names derived from them.

use proc_macro2::TokenStream as Tokens;
use quote::{format_ident, quote};
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Error, Fields, Ident, Result};

/// The way in which a port set keeps its messages.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// All messages in one queue, in order of arrival.
    OneQueue,
    /// A separate port for each kind of message.
    Split,
}

/// An enum from which a port set is made, and the options given on it.
pub(crate) struct Set<'a> {
    pub(crate) input: &'a DeriveInput,
    pub(crate) mode: Mode,
    pub(crate) variants: Vec<Variant<'a>>,
}

/// A variant of the enum, which is one kind of message.
pub(crate) struct Variant<'a> {
    pub(crate) name: &'a Ident,
    /// The variant's name in snake case, which is part of the names of methods.
    pub(crate) snake: String,
    /// The variant's name in snake case, as the name of a field.
    pub(crate) field: Ident,
    /// The type that a receiver gets. The payload is the type of the variant's only field, a tuple of the types of
    /// several fields, or `()` without fields.
    pub(crate) payload: Tokens,
    /// `Ops::Variant { 0: f0, x: f1, .. }`: a pattern that takes a value apart, and an expression that puts it
    /// together.
    pub(crate) pattern: Tokens,
    /// `f0`, `(f0, f1)` or `()`: the payload as an expression over the names in `pattern`.
    pub(crate) parts: Tokens,
}

impl<'a> Set<'a> {
    /// Reads the enum's variants and options.
    ///
    /// # Errors
    /// Fails if `PortSet` cannot be derived for the enum. The error points at the faulty part.
    pub(crate) fn read(input: &'a DeriveInput) -> Result<Self> {
        let Data::Enum(data) = &input.data else {
            return Err(Error::new(
                input.ident.span(),
                "a port set is made from an enum: one variant for each kind of message",
            ));
        };
        if data.variants.is_empty() {
            return Err(Error::new(
                input.ident.span(),
                "a port set needs a variant: an enum without one has no messages",
            ));
        }
        let mode = mode(&input.attrs)?;
        let mut variants: Vec<Variant<'a>> = Vec::with_capacity(data.variants.len());
        for variant in &data.variants {
            if let Some(attribute) = variant.attrs.iter().find(|attribute| attribute.path().is_ident("port_set")) {
                return Err(Error::new(
                    attribute.span(),
                    "options stand on the enum, not on a variant: a port of its own goes with `#[port_set(split)]` on the enum",
                ));
            }
            let variant = Variant::read(&input.ident, variant)?;
            if let Some(known) = variants.iter().find(|known| known.snake == variant.snake) {
                return Err(Error::new(
                    variant.name.span(),
                    format!(
                        "`{}` and `{}` would both be called `{}`: rename one of them",
                        variant.name, known.name, known.snake
                    ),
                ));
            }
            variants.push(variant);
        }
        Ok(Self { input, mode, variants })
    }
}

fn mode(attributes: &[Attribute]) -> Result<Mode> {
    let mut mode = Mode::OneQueue;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("port_set")) {
        attribute.parse_nested_meta(|option| {
            if !option.path.is_ident("split") {
                return Err(option.error("unknown option; the only one is `split`"));
            }
            mode = Mode::Split;
            Ok(())
        })?;
    }
    Ok(mode)
}

impl<'a> Variant<'a> {
    fn read(set: &Ident, variant: &'a syn::Variant) -> Result<Self> {
        let name = &variant.ident;
        let snake = snake_case(&name.to_string());
        if ["self", "super", "crate", "_"].contains(&snake.as_str()) {
            let message = format!("`{snake}` cannot be the name of a method or field: rename this variant");
            return Err(Error::new(name.span(), message));
        }
        // If the name is a keyword, the field is a raw identifier. Its span is the variant's, so that errors point at
        // the variant.
        let field = syn::parse_str::<Ident>(&snake).map_or_else(
            |_| Ident::new_raw(&snake, name.span()),
            |mut ident| {
                ident.set_span(name.span());
                ident
            },
        );
        let types: Vec<_> = variant.fields.iter().map(|field| &field.ty).collect();
        let parts: Vec<_> = (0..types.len()).map(|i| format_ident!("f{i}")).collect();
        let members = variant.fields.members();
        let pattern = match variant.fields {
            Fields::Unit => quote!(#set::#name),
            Fields::Named(_) | Fields::Unnamed(_) => quote!(#set::#name { #(#members: #parts),* }),
        };
        let (payload, parts) = match types.as_slice() {
            [one] => (quote!(#one), quote!(f0)),
            _ => (quote!((#(#types),*)), quote!((#(#parts),*))),
        };
        Ok(Self { name, snake, field, payload, pattern, parts })
    }

    /// Returns the name of a method, such as `post_add`.
    pub(crate) fn method(&self, verb: &str) -> Ident {
        format_ident!("{verb}_{}", self.snake, span = self.name.span())
    }
}

/// Converts a name to snake case: `PutBack` to `put_back`, `HTTPGet` to `http_get`.
fn snake_case(name: &str) -> String {
    let letters: Vec<char> = name.trim_start_matches("r#").chars().collect();
    let mut snake = String::with_capacity(name.len() + 4);
    for (i, &letter) in letters.iter().enumerate() {
        let after_word = i > 0 && (letters[i - 1].is_lowercase() || letters[i - 1].is_numeric());
        let before_word =
            i > 0 && letters[i - 1].is_uppercase() && letters.get(i + 1).is_some_and(|next| next.is_lowercase());
        if letter.is_uppercase() && (after_word || before_word) {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::snake_case;

    #[test]
    fn names_become_snake_case() {
        let pairs = [
            ("Add", "add"),
            ("PutBack", "put_back"),
            ("HTTPGet", "http_get"),
            ("V2", "v2"),
            ("V2Get", "v2_get"),
            ("r#Type", "type"),
        ];
        for (name, expected) in pairs {
            assert_eq!(snake_case(name), expected);
        }
    }
}
