//! The page of a node for people who open its address in a browser: what this is, and what can be asked.

use lehr_services::Endpoint;

/// Text inside of HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The page, with the services that its reader may see. Links are relative, so that they work behind a proxy with a prefix.
pub(crate) fn html(services: &[Endpoint]) -> String {
    let rows: String = services
        .iter()
        .map(|endpoint| {
            let info = endpoint.info();
            let path = escaped(&info.path);
            let (contract, version) = (escaped(&info.contract.name), info.contract.version);
            let bare = path.trim_start_matches('/');
            format!(
                "<tr><td><a href=\"{bare}\">{path}</a></td><td>{contract} {version}</td><td>{}</td></tr>\n",
                info.phase
            )
        })
        .collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Lehr node</title>\n\
         <style>body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem }}\n\
         td, th {{ text-align: left; padding-right: 2rem }}</style>\n\
         <h1>Lehr node</h1>\n<p>This is a node of services of Lehr {}, a data-mining system. Programs get this list as JSON.\n\
         Its <a href=\"openapi.json\">OpenAPI description</a> says what can be asked;\n\
         <a href=\"ready\">ready</a> and <a href=\"metrics\">metrics</a> say how it is.</p>\n\
         <table>\n<tr><th>Service</th><th>Contract</th><th>Phase</th></tr>\n{rows}</table>\n\
         <p>Try <code>curl ADDRESS/SERVICE</code> for the state of a service, <code>ADDRESS/SERVICE:lookup</code> for its operations,\n\
         <code>ADDRESS/SERVICE:events</code> for its changes as they happen.</p>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    )
}
