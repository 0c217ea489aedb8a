//! The hosts that may be contacted: hosts on the operator's list, at addresses outside private networks.
//! A service that fetches any URL would open its own network to attackers. So only listed hosts are allowed. Lehr
//! resolves the host name itself, and connects to exactly the IP address that it has checked. Every redirect is checked
//! again.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use hyper::Uri;
use lehr_services::{Code, Fault};
use url::Url;

/// The beginning of the URL of an object in S3.
const S3: &str = "s3://";

/// The hosts and the buckets of S3 that may be contacted. By default there are none.
///
/// # Example
/// ```
/// use lehr_sources::Allowed;
/// let allowed = Allowed::new(["data.example.org", ".ac.example", "127.0.0.1:8000"]).unwrap();
/// assert!(allowed.check("https://data.example.org/blocks.csv").is_ok());
/// assert!(allowed.check("https://www.ac.example/").is_ok()); // a name below
/// assert_eq!(
///     allowed.check("http://elsewhere.example.org/").unwrap_err().reason(),
///     "elsewhere.example.org is not among the hosts that may be asked: data.example.org, .ac.example, 127.0.0.1:8000"
/// );
/// assert!(allowed.check("file:///etc/passwd").is_err());
/// assert!(Allowed::new(["http://x"]).is_err());
/// assert!(Allowed::new(["s3://bucket"]).unwrap().check("s3://bucket/blocks.csv").is_ok());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Allowed {
    entries: Vec<Entry>,
    /// The names of buckets, whose objects are read with the credentials of this process.
    buckets: Vec<String>,
    private: bool,
}

/// A host in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    /// A host name. A name with a leading dot means all its subdomains.
    name: String,
    /// The only allowed port. `None` allows the ports of HTTP and HTTPS, 80 and 443.
    port: Option<u16>,
}

impl fmt::Display for Entry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.name)?;
        self.port.map_or(Ok(()), |port| write!(formatter, ":{port}"))
    }
}

/// The parts of a URL that may be requested, unless its host name resolves to a forbidden IP address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) is_tls: bool,
    pub(crate) host: String,
    pub(crate) port: u16,
    /// The path and query.
    pub(crate) path: String,
}

/// Returns a URL without its query and without what stands before an `@`, because these may have a key.
pub(crate) fn without_secrets(url: &str) -> String {
    let plain = url.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = plain.split_once("://").unwrap_or(("", plain));
    let (host, place) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.rsplit('@').next().unwrap_or_default();
    if scheme.is_empty() { format!("{host}{place}") } else { format!("{scheme}://{host}{place}") }
}

impl Target {
    /// Returns the parts of a URL of HTTP or HTTPS.
    pub(crate) fn of(url: &str) -> Result<Self, Fault> {
        let refuse = || {
            let found = without_secrets(url);
            let reason = format!("expected an address such as https://example.org/data.csv, found {found:?}");
            Fault::new(Code::InvalidValue, reason)
        };
        let uri: Uri = url.parse().map_err(|_| refuse())?;
        let is_tls = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(refuse()),
        };
        let authority = uri.authority().ok_or_else(refuse)?;
        // Text before an @ is not needed to fetch data, and can make one host look like another.
        if authority.as_str().contains('@') {
            return Err(refuse());
        }
        let host = uri.host().ok_or_else(refuse)?.to_ascii_lowercase();
        let port = authority.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
        let path = uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
        Ok(Target { is_tls, host, port, path })
    }

    /// Returns the value for the `host` header.
    pub(crate) fn authority(&self) -> String {
        let usual = if self.is_tls { 443 } else { 80 };
        if self.port == usual { self.host.clone() } else { format!("{}:{}", self.host, self.port) }
    }

    /// Returns the URL of a redirect from this target. `location` may be relative.
    pub(crate) fn join(&self, location: &str) -> Option<String> {
        let scheme = if self.is_tls { "https" } else { "http" };
        let own = Url::parse(&format!("{scheme}://{}{}", self.authority(), self.path)).ok()?;
        own.join(location).ok().map(String::from)
    }
}

impl Allowed {
    /// Allows these hosts: `name` (ports 80 and 443), `name:port`, or `.name` for all subdomains of the name. Also
    /// allows buckets of S3: `s3://name`. Lehr reads their objects with the key in its environment.
    ///
    /// # Errors
    /// Returns [`Code::InvalidValue`] with a list of all entries of another form.
    ///
    /// # Example
    /// See [`Allowed`].
    pub fn new<T: AsRef<str>>(hosts: impl IntoIterator<Item = T>) -> Result<Self, Fault> {
        let (mut entries, mut buckets, mut faults) = (Vec::new(), Vec::new(), Vec::new());
        for host in hosts {
            let text = host.as_ref();
            if let Some(bucket) = text.strip_prefix(S3) {
                let is_name = |bucket: &str| {
                    !bucket.is_empty()
                        && bucket.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte))
                };
                match bucket.trim_end_matches('/') {
                    name if is_name(name) => buckets.push(name.to_owned()),
                    _ => faults.push(format!("bucket {text:?}: expected s3://name")),
                }
                continue;
            }
            let (name, port) = match text.rsplit_once(':') {
                Some((name, port)) if !name.contains(':') || name.ends_with(']') => (name, Some(port.parse::<u16>())),
                _ => (text, None),
            };
            let bytes = name.trim_start_matches('[').trim_end_matches(']').bytes();
            let is_name = !name.is_empty()
                && bytes.into_iter().all(|byte| byte.is_ascii_alphanumeric() || b".-_:".contains(&byte));
            match (is_name, port.transpose()) {
                (true, Ok(port)) => entries.push(Entry { name: name.to_ascii_lowercase(), port }),
                _ => faults.push(format!("host {text:?}: expected a name, .name, name:port or s3://bucket")),
            }
        }
        if faults.is_empty() {
            Ok(Self { entries, buckets, private: false })
        } else {
            Err(Fault::new(Code::InvalidValue, faults.join("; ")))
        }
    }

    /// Also allows addresses of this machine and of private networks.
    ///
    /// # Example
    /// ```
    /// use lehr_sources::Allowed;
    /// let stand_in = Allowed::new(["127.0.0.1:8000"]).unwrap().private();
    /// assert!(stand_in.check("http://127.0.0.1:8000/").is_ok());
    /// ```
    pub fn private(mut self) -> Self {
        self.private = true;
        self
    }

    /// Checks whether this URL is allowed, as far as this is known before its host name is resolved.
    ///
    /// # Errors
    /// Returns [`Code::InvalidValue`] if it is not a URL of HTTP, HTTPS or S3, and [`Code::PermissionDenied`] if its
    /// host or bucket is not listed.
    ///
    /// # Example
    /// See [`Allowed`].
    pub fn check(&self, url: &str) -> Result<(), Fault> {
        if self.is_object(url)? { Ok(()) } else { self.target(url).map(|_| ()) }
    }

    /// Returns the target of a URL of a listed host. An object of a listed bucket has no target before its URL is
    /// signed: [`Allowed::is_object`].
    pub(crate) fn target(&self, url: &str) -> Result<Target, Fault> {
        let target = Target::of(url)?;
        let Target { host, port, .. } = &target;
        let is_listed = self.entries.iter().any(|entry| {
            let is_named = entry.name == *host || (entry.name.starts_with('.') && host.ends_with(&entry.name));
            is_named && entry.port.map_or(*port == 80 || *port == 443, |only| only == *port)
        });
        if is_listed { Ok(target) } else { Err(self.unlisted(&target.authority())) }
    }

    /// Returns whether a URL is that of an object in S3, whose bucket is listed.
    pub(crate) fn is_object(&self, url: &str) -> Result<bool, Fault> {
        let Some(rest) = url.strip_prefix(S3) else { return Ok(false) };
        let bucket = rest.split('/').next().unwrap_or_default();
        if self.buckets.iter().any(|listed| listed == bucket) {
            Ok(true)
        } else {
            Err(self.unlisted(&format!("{S3}{bucket}")))
        }
    }

    fn unlisted(&self, found: &str) -> Fault {
        let buckets = self.buckets.iter().map(|bucket| format!("{S3}{bucket}"));
        let listed: Vec<String> = self.entries.iter().map(Entry::to_string).chain(buckets).collect();
        let listed = if listed.is_empty() { "none".to_owned() } else { listed.join(", ") };
        Fault::new(Code::PermissionDenied, format!("{found} is not among the hosts that may be asked: {listed}"))
    }

    /// Returns the addresses to which connections are allowed, of the addresses `found` for a host name.
    pub(crate) fn reachable(
        &self,
        host: &str,
        found: impl Iterator<Item = SocketAddr>,
    ) -> Result<Vec<SocketAddr>, Fault> {
        let found: Vec<SocketAddr> = found.collect();
        let usable: Vec<SocketAddr> =
            found.iter().copied().filter(|address| self.private || is_public(address.ip())).collect();
        if usable.is_empty() {
            let fault = if found.is_empty() {
                Fault::new(Code::Unavailable, format!("{host} has no address"))
            } else {
                Fault::new(Code::PermissionDenied, format!("{host} leads into a private network, which is not allowed"))
            };
            return Err(fault);
        }
        Ok(usable)
    }
}

/// Returns whether an address belongs to the public internet.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation()
        || matches!((a, b, c), (0 | 240.., _, _) | (100, 64..=127, _) | (192, 0, 0) | (198, 18 | 19, _));
    !is_special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    let embedded = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match parts {
        // For an IPv4 address that is mapped, compatible, translated or tunnelled, the embedded address decides.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0, 0, 0, 0, 0, 0, high, low] => embedded(high, low),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => embedded(high, low),
        [0x2002, high, low, ..] => embedded(high, low),
        // Of all other addresses, only the range for global use is allowed, without Teredo and documentation addresses.
        [0x2001, 0 | 0xdb8, ..] => false,
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_addresses_are_told_from_public_ones_however_they_are_written() {
        for text in ["9.9.9.9", "172.32.0.1", "2620:fe::fe", "::ffff:9.9.9.9", "64:ff9b::909:909"] {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
        for text in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "198.18.0.1",
            "192.0.2.1",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001::1",
            "2001:db8::1",
            "::127.0.0.1",
        ] {
            assert!(!is_public(text.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn an_address_is_allowed_by_its_host_and_port_alone() {
        let allowed = Allowed::new(["a.example", ".b.example", "c.example:8000", "[::1]:81"]).unwrap();
        for url in [
            "http://a.example/x?y=1",
            "https://A.example:443/",
            "https://x.b.example",
            "http://c.example:8000",
            "http://[::1]:81/",
        ] {
            assert!(allowed.check(url).is_ok(), "{url}");
        }
        for url in [
            "http://a.example:8080/",
            "http://b.example/",
            "http://xb.example/",
            "http://c.example/",
            "http://a.example@evil.example/",
            "http://evil.example/a.example",
            "ftp://a.example/",
            "//a.example/",
            "a.example",
            "http://a.example.evil.example/",
            "s3://a.example/key",
        ] {
            assert!(allowed.check(url).is_err(), "{url}");
        }
    }

    #[test]
    fn an_object_is_allowed_by_its_bucket_alone() {
        let allowed = Allowed::new(["s3://b", "s3://data.example/"]).unwrap();
        assert!(allowed.check("s3://b/x/y.csv").is_ok() && allowed.check("s3://data.example/x").is_ok());
        for url in ["s3://other/x", "s3://b.evil/x", "https://b/x", "s3://"] {
            assert!(allowed.check(url).is_err(), "{url}");
        }
        let fault = Allowed::new(["s3://", "s3://a/b"]).unwrap_err();
        assert_eq!(fault.reason(), "bucket \"s3://\": expected s3://name; bucket \"s3://a/b\": expected s3://name");
    }

    #[test]
    fn a_redirection_is_read_from_where_it_stands() {
        let from = Target { is_tls: true, host: "a.example".to_owned(), port: 443, path: "/x/y?z=1".to_owned() };
        let cases = [
            ("/b", "https://a.example/b"),
            ("b", "https://a.example/x/b"),
            ("//c.example/d", "https://c.example/d"),
            ("http://e.example/", "http://e.example/"),
            ("?page=2", "https://a.example/x/y?page=2"),
            ("/login?next=http://e.example/", "https://a.example/login?next=http://e.example/"),
        ];
        for (location, expected) in cases {
            assert_eq!(from.join(location).as_deref(), Some(expected));
        }
    }
}
