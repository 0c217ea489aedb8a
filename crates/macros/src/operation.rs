//! Makes a struct an operation of a service: the struct is the message, and the options give its place in a contract.

use proc_macro2::TokenStream as Tokens;
use quote::quote;
use syn::meta::ParseNestedMeta;
use syn::parse::Parse;
use syn::punctuated::Punctuated;
use syn::{Data, DeriveInput, Error, Field, Ident, LitStr, Member, Result, Token, Type, parenthesized};

/// The options that a user gives in `#[operation(…)]`.
struct Options {
    contract: Type,
    verb: Ident,
    name: LitStr,
    reply: Option<Type>,
    /// The fields that lead from the message to its key, such as `path` or `body.path`.
    key: Option<Punctuated<Member, Token![.]>>,
    raw: Option<Punctuated<LitStr, Token![,]>>,
    has_body: bool,
}

/// Returns the code that implements the operation.
///
/// # Errors
/// Reports errors at the position of the option: missing, unknown, given twice, or unsuitable for the type.
pub(crate) fn write(input: &DeriveInput) -> Result<Tokens> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new(input.ident.span(), "an operation is made from a struct: its fields are the message"));
    };
    let options = Options::read(input)?;
    let body = options.has_body.then(|| only(&input.ident, data.fields.iter())).transpose()?;
    let Options { contract, verb, name: text, reply, key, raw, .. } = &options;
    let name = &input.ident;
    let (generics, arguments, bounds) = input.generics.split_for_impl();
    let reply = reply.as_ref().map_or_else(|| quote!(()), |reply| quote!(#reply));
    let raw = raw.as_ref().map(|raw| quote!(const RAW: &'static [&'static str] = &[#raw];));
    let key = key.as_ref().map(|key| {
        quote! {
            fn key(&self) -> ::core::option::Option<::std::borrow::Cow<'_, str>> {
                ::core::option::Option::Some(::std::borrow::Cow::Borrowed(&self.#key))
            }
        }
    });
    let forwarded = body.map(|body| forward(input, body));
    Ok(quote! {
        #[automatically_derived]
        impl #generics ::lehr_services::Operation for #name #arguments #bounds {
            type Contract = #contract;
            type Verb = ::lehr_services::verb::#verb;
            type Reply = #reply;
            const NAME: &'static str = #text;
            #raw
            #key
        }

        #forwarded
    })
}

/// Returns the code of the schema and of the constructor `of`, for an operation with one field that is the whole
/// message.
fn forward(input: &DeriveInput, body: &Field) -> Tokens {
    let (name, visibility, body_type) = (&input.ident, &input.vis, &body.ty);
    let (generics, arguments, bounds) = input.generics.split_for_impl();
    let member = body.ident.as_ref().map_or_else(|| quote!(0), |ident| quote!(#ident));
    quote! {
        #[automatically_derived]
        impl #generics #name #arguments #bounds {
            /// Creates the operation with this message.
            #visibility fn of(body: #body_type) -> Self {
                Self { #member: body }
            }
        }

        #[automatically_derived]
        impl #generics ::schemars::JsonSchema for #name #arguments #bounds {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                <#body_type as ::schemars::JsonSchema>::schema_name()
            }

            fn json_schema(generator: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                <#body_type as ::schemars::JsonSchema>::json_schema(generator)
            }
        }
    }
}

fn only<'a>(name: &Ident, mut fields: impl Iterator<Item = &'a Field>) -> Result<&'a Field> {
    match (fields.next(), fields.next()) {
        (Some(field), None) => Ok(field),
        _ => Err(Error::new(name.span(), "`body` goes with one field, which is the whole message")),
    }
}

impl Options {
    fn read(input: &DeriveInput) -> Result<Self> {
        let (mut contract, mut verb, mut name, mut reply, mut key, mut raw) = (None, None, None, None, None, None);
        let mut body = None;
        for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("operation")) {
            attribute.parse_nested_meta(|option| {
                let known = option.path.get_ident().map(Ident::to_string);
                match known.as_deref() {
                    Some("contract") => set(&mut contract, &option, value),
                    Some("verb") => set(&mut verb, &option, value),
                    Some("name") => set(&mut name, &option, |option| checked(value(option)?)),
                    Some("reply") => set(&mut reply, &option, value),
                    Some("key") => {
                        set(&mut key, &option, |option| Punctuated::parse_separated_nonempty(option.value()?))
                    }
                    Some("raw") => set(&mut raw, &option, |option| {
                        let media_types;
                        parenthesized!(media_types in option.input);
                        Punctuated::parse_terminated(&media_types)
                    }),
                    Some("body") => set(&mut body, &option, |_| Ok(())),
                    _ => Err(option.error("unknown option: expected contract, verb, name, reply, key, raw or body")),
                }
            })?;
        }
        let missing = |what| Error::new(input.ident.span(), format!("`#[operation({what} = …)]` is missing"));
        Ok(Self {
            contract: contract.ok_or_else(|| missing("contract"))?,
            verb: verb.ok_or_else(|| missing("verb"))?,
            name: name.ok_or_else(|| missing("name"))?,
            reply,
            key,
            raw,
            has_body: body.is_some(),
        })
    }
}

/// Sets an option to the value that `read` returns, or returns an error if the option was set before.
fn set<T>(
    to: &mut Option<T>,
    option: &ParseNestedMeta<'_>,
    read: impl FnOnce(&ParseNestedMeta<'_>) -> Result<T>,
) -> Result<()> {
    if to.is_some() {
        return Err(option.error("this option is given twice"));
    }
    *to = Some(read(option)?);
    Ok(())
}

fn value<T: Parse>(option: &ParseNestedMeta<'_>) -> Result<T> {
    option.value()?.parse()
}

/// Returns the name, if it is valid for an operation.
fn checked(name: LitStr) -> Result<LitStr> {
    let text = name.value();
    let is_right = text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if text.is_empty() || !is_right {
        return Err(Error::new(name.span(), "an operation's name has lower case letters, digits and underscores only"));
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(input: &str) -> String {
        write(&syn::parse_str(input).unwrap()).unwrap_err().to_string()
    }

    fn with(options: &str) -> String {
        format!("#[operation({options})] struct Add {{ amount: i64 }}")
    }

    #[test]
    fn faults_are_named_where_the_user_can_mend_them() {
        let all = "contract = Counter, verb = Update, name = \"add\"";
        let cases = [
            ("enum Add { A }".to_owned(), "an operation is made from a struct: its fields are the message"),
            ("struct Add {}".to_owned(), "`#[operation(contract = …)]` is missing"),
            (with("contract = Counter, name = \"add\""), "`#[operation(verb = …)]` is missing"),
            (with("contract = Counter, verb = Update"), "`#[operation(name = …)]` is missing"),
            (
                with("contract = Counter, verb = Update, name = \"Add\""),
                "an operation's name has lower case letters, digits and underscores only",
            ),
            (with(&format!("{all}, verb = Query")), "this option is given twice"),
            (
                with(&format!("{all}, answer = i64")),
                "unknown option: expected contract, verb, name, reply, key, raw or body",
            ),
            (
                format!("#[operation({all}, body)] struct Add {{ a: i64, b: i64 }}"),
                "`body` goes with one field, which is the whole message",
            ),
        ];
        for (input, expected) in cases {
            assert_eq!(error(&input), expected, "{input}");
        }
    }

    #[test]
    fn what_is_written_is_what_a_hand_would_write() {
        let input = "#[operation(contract = Jobs, verb = Query, name = \"wait\", reply = Vec<String>, key = body.job, \
                     raw(\"text/csv\"))] struct Wait { body: WaitFor }";
        let expected = quote! {
            #[automatically_derived]
            impl ::lehr_services::Operation for Wait {
                type Contract = Jobs;
                type Verb = ::lehr_services::verb::Query;
                type Reply = Vec<String>;
                const NAME: &'static str = "wait";
                const RAW: &'static [&'static str] = &["text/csv"];
                fn key(&self) -> ::core::option::Option<::std::borrow::Cow<'_, str>> {
                    ::core::option::Option::Some(::std::borrow::Cow::Borrowed(&self.body.job))
                }
            }
        };
        assert_eq!(write(&syn::parse_str(input).unwrap()).unwrap().to_string(), expected.to_string());
    }

    #[test]
    fn a_body_gives_its_schema_and_a_constructor() {
        for fields in ["{ body: Order }", "(Order);"] {
            let input =
                format!("#[operation(contract = Jobs, verb = Insert, name = \"run\", body)] pub struct Run {fields}");
            let written = write(&syn::parse_str(&input).unwrap()).unwrap();
            syn::parse2::<syn::File>(written.clone()).unwrap();
            let written = written.to_string();
            assert!(
                written.contains(&quote!(<Order as ::schemars::JsonSchema>::schema_name()).to_string()),
                "{written}"
            );
            assert!(written.contains(&quote!(pub fn of(body: Order) -> Self).to_string()), "{written}");
        }
    }
}
