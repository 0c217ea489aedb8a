//! The environment variables with which a user or a cloud gives credentials.

/// The variables of which one is set wherever credentials are given. The library reads them, and the others that begin
/// with `AWS_`.
const CREDENTIALS: [&str; 5] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_SKIP_SIGNATURE",
];

/// Returns whether the environment says how to sign requests. Empty variables count as unset.
pub fn has_credentials() -> bool {
    CREDENTIALS.iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}
