//! The page for people who open a node's address in a browser: its purpose and its services.

use lehr_services::Endpoint;
use maud::{PreEscaped, html};

/// Returns the page, with the services that its reader may see. Links are relative, so that they work behind a proxy
/// with a path prefix.
pub(crate) fn html(services: &[Endpoint]) -> String {
    let style = "body { font: 1rem/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem }\n\
                 td, th { text-align: left; padding-right: 2rem }";
    let page = html! {
        (PreEscaped("<!doctype html>\n"))
        html lang="en" {
            meta charset="utf-8";
            title { "Lehr node" }
            style { (PreEscaped(style)) }
            h1 { "Lehr node" }
            p {
                "This is a node of services of Lehr " (env!("CARGO_PKG_VERSION")) ", a data-mining system. "
                "Programs get this list as JSON. Its " a href="openapi.json" { "OpenAPI description" }
                " says what can be asked; " a href="ready" { "ready" } " and " a href="metrics" { "metrics" }
                " say how it is."
            }
            table {
                tr { th { "Service" } th { "Contract" } th { "Phase" } }
                @for info in services.iter().map(Endpoint::info) {
                    tr {
                        td { a href=(info.path.trim_start_matches('/')) { (info.path) } }
                        td { (info.contract.name) " " (info.contract.version) }
                        td { (info.phase) }
                    }
                }
            }
            p {
                "Try " code { "curl ADDRESS/SERVICE" } " for the state of a service, " code { "ADDRESS/SERVICE:lookup" }
                " for its operations, " code { "ADDRESS/SERVICE:events" } " for its changes as they happen."
            }
        }
    };
    page.into_string()
}
