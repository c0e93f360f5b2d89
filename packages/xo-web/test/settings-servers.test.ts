import t from "tap";
import {
  addressInputError,
  afterProbe,
  distrustOf,
  isPlain,
  toPairs,
  type Certificate,
  type Probe,
} from "../src/settings/servers/probe.js";
import { codeOf, remedyFor } from "../src/settings/servers/server-row.js";

const certificate: Certificate = {
  fingerprint: "ab".repeat(32),
  subject: "CN=xen1",
  issuer: "CN=xen1",
  names: "",
  validFrom: 0,
  validTo: 1,
  isSelfSigned: true,
  isTrusted: false,
  distrust: "DEPTH_ZERO_SELF_SIGNED_CERT",
};
const probe: Probe = { address: "xen1:443", isReachable: true, certificate };

t.test("an untrusted certificate needs a confirmation", async (t) => {
  t.equal(afterProbe(probe), "confirm");
  t.equal(afterProbe(probe, certificate.fingerprint), "connect");
  t.equal(afterProbe(probe, "cd".repeat(32)), "confirm");
  const trusted = { ...certificate, isTrusted: true };
  t.equal(afterProbe({ ...probe, certificate: trusted }), "connect");
  t.equal(afterProbe({ address: "xen1:80", isReachable: true }), "connect");
});

t.test(
  "obstacles of a login are reported before its certificate",
  async (t) => {
    t.equal(afterProbe({ ...probe, problem: "member" }), "stop");
    t.equal(
      afterProbe({ ...probe, problem: "not-a-xapi" }, certificate.fingerprint),
      "stop",
    );
  },
);

t.test("each reason of an untrusted certificate has a text", async (t) => {
  t.equal(distrustOf(certificate), "selfSigned");
  for (const [word, distrust] of [
    ["CERT_HAS_EXPIRED", "expired"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "otherName"],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "unknownAuthority"],
    ["SOMETHING_NEW", "unnamed"],
    ["constructor", "unnamed"],
  ] as const)
    t.equal(distrustOf({ ...certificate, distrust: word }), distrust);
  t.equal(distrustOf({ ...certificate, isTrusted: true }), undefined);
});

t.test("fingerprints are shown in pairs", async (t) => {
  t.equal(toPairs("abcdef"), "AB:CD:EF");
  t.equal(toPairs("ab".repeat(32)).length, 95);
});

t.test("an address is checked while it is typed", async (t) => {
  for (const right of [
    "192.0.2.10",
    "xen1",
    "xen1.example.net:8443",
    "https://xen1/",
    "http://192.0.2.1:80",
    "[2001:db8::1]:443",
    "2001:db8::1",
    " xen1 ",
  ])
    t.equal(addressInputError(right), undefined, right);
  for (const [wrong, inputError] of [
    ["", "empty"],
    ["  ", "empty"],
    ["ftp://xen1", "scheme"],
    ["root@xen1", "login"],
    ["xen1:", "port"],
    ["xen1:70000", "port"],
    ["xen1:abc", "port"],
    ["a b", "name"],
    ["xen1/path", "name"],
    ["https://", "name"],
  ] as const)
    t.equal(addressInputError(wrong), inputError, wrong);
});

t.test("an error shows a remedy on this page", async (t) => {
  t.equal(remedyFor("SESSION_AUTHENTICATION_FAILED"), "login");
  t.equal(remedyFor("TLS_FINGERPRINT_MISMATCH"), "certificate");
  t.equal(remedyFor("UNREACHABLE"), "address");
  t.equal(remedyFor("toString"), "wait");
  const away = { code: "NO_CANDIDATE", message: "all away" };
  t.equal(codeOf(away), "NO_CANDIDATE");
  const data = { cause: "TLS_FINGERPRINT_MISMATCH" };
  t.equal(remedyFor(codeOf({ ...away, data })), "certificate");
});

t.test("connections without TLS are found", (t) => {
  t.ok(isPlain("http://192.0.2.10"));
  t.ok(isPlain(" HTTP://host:8080"));
  for (const host of ["192.0.2.10", "https://host", "httphost"])
    t.notOk(isPlain(host), host);
  t.end();
});
