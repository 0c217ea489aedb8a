//! Reverse proxies in front of a node: which proxies are trusted, and what they say about a client's address.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use hyper::header::{self, HeaderMap};

/// A network: all IP addresses with a common prefix, or a single address.
///
/// # Example
/// ```
/// use lehr_node::Network;
/// let network: Network = "10.0.0.0/8".parse().unwrap();
/// assert!(network.contains([10, 1, 2, 3].into()) && !network.contains([11, 0, 0, 1].into()));
/// assert!("::1".parse::<Network>().unwrap().contains("::1".parse().unwrap()));
/// assert_eq!("proxy".parse::<Network>().unwrap_err(), "expected an address or a network, such as 10.0.0.0/8, found \"proxy\"");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u32,
}

impl Network {
    /// Returns whether the network contains an address. An IPv4 address written as IPv6 counts as the IPv4 address.
    ///
    /// # Example
    /// See [`Network`].
    pub fn contains(&self, address: IpAddr) -> bool {
        let shifted = |bits: u128, all: u32| if self.bits == 0 { 0 } else { bits >> (all - self.bits) };
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(left), IpAddr::V4(right)) => {
                shifted(left.to_bits().into(), 32) == shifted(right.to_bits().into(), 32)
            }
            (IpAddr::V6(left), IpAddr::V6(right)) => shifted(left.to_bits(), 128) == shifted(right.to_bits(), 128),
            _ => false,
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.address, self.bits)
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let read = || {
            let address = address.parse::<IpAddr>().ok()?;
            let all = if address.is_ipv4() { 32 } else { 128 };
            let bits = bits.map_or(Some(all), |bits| bits.parse().ok())?;
            (bits <= all).then_some(Self { address, bits })
        };
        read().ok_or_else(|| format!("expected an address or a network, such as 10.0.0.0/8, found {text:?}"))
    }
}

/// Returns the address of the client. Normally the client's address is the peer's address. If the peer is a trusted
/// proxy, the client's address is the last address in `X-Forwarded-For` that is not a trusted proxy. Without that
/// header, Lehr uses `Forwarded` (RFC 7239).
pub(crate) fn client(proxies: &[Network], other_end: IpAddr, headers: &HeaderMap) -> IpAddr {
    let is_proxy = |address: IpAddr| proxies.iter().any(|network| network.contains(address));
    if !is_proxy(other_end) {
        return other_end;
    }
    let lines = |name: &str| {
        let texts = headers.get_all(name).iter().map(|line| line.to_str().unwrap_or_default());
        texts.flat_map(|line| line.split(',')).map(|part| part.trim().to_owned()).collect::<Vec<_>>()
    };
    let mut named = lines("x-forwarded-for");
    if named.is_empty() {
        let of = |part: &String| {
            part.split(';').find_map(|pair| {
                let (name, value) = pair.trim().split_once('=')?;
                name.eq_ignore_ascii_case("for").then(|| value.trim_matches('"').to_owned())
            })
        };
        named = lines(header::FORWARDED.as_str()).iter().filter_map(of).collect();
    }
    let mut client = other_end;
    // Each proxy appends the address that called it, so the addresses are read from the end. Everything before the last
    // address that is not a trusted proxy is only a claim of that client.
    for text in named.iter().rev() {
        let Some(address) = address(text) else { break };
        client = address;
        if !is_proxy(address) {
            break;
        }
    }
    client
}

/// Reads an address as proxies write it: alone, in brackets, or with a port.
fn address(text: &str) -> Option<IpAddr> {
    let bare = match text.strip_prefix('[') {
        Some(rest) => rest.split(']').next()?,
        None if text.matches(':').count() == 1 => text.split(':').next()?,
        None => text,
    };
    bare.parse().ok().map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use hyper::header::{HeaderName, HeaderValue};

    use super::*;

    fn asked(from: &str, headers: &[(&'static str, &'static str)]) -> String {
        let proxies: Vec<Network> = ["127.0.0.1", "10.0.0.0/8"].map(|text| text.parse().unwrap()).to_vec();
        let headers = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect();
        client(&proxies, from.parse().unwrap(), &headers).to_string()
    }

    #[test]
    fn only_the_word_of_a_named_proxy_counts() {
        let forged = [("x-forwarded-for", "1.2.3.4")];
        assert_eq!(asked("192.0.2.7", &forged), "192.0.2.7");
        assert_eq!(asked("127.0.0.1", &forged), "1.2.3.4");
        assert_eq!(asked("::ffff:127.0.0.1", &forged), "1.2.3.4");
        // The client wrote the first address, and the proxies wrote the other addresses.
        assert_eq!(asked("127.0.0.1", &[("x-forwarded-for", "6.6.6.6, 192.0.2.7, 10.1.1.1")]), "192.0.2.7");
        assert_eq!(asked("127.0.0.1", &[("forwarded", "for=\"[2001:db8::1]:4711\";proto=https")]), "2001:db8::1");
        assert_eq!(asked("127.0.0.1", &[("forwarded", "for=_hidden")]), "127.0.0.1");
        assert_eq!(asked("127.0.0.1", &[]), "127.0.0.1");
    }

    #[test]
    fn a_network_is_its_first_bits() {
        let network = |text: &str| text.parse::<Network>();
        assert!(network("0.0.0.0/0").unwrap().contains([8, 8, 8, 8].into()));
        assert!(network("2001:db8::/32").unwrap().contains("2001:db8:ffff::1".parse().unwrap()));
        for wrong in ["", "10.0.0.0/33", "10.0.0/8", "::/129", "a/8"] {
            assert!(network(wrong).is_err(), "{wrong}");
        }
    }
}
