import t from "tap";
import { Secrets } from "../src/secrets.js";

t.test("the latest session references are masked, in all forms", (t) => {
  const secrets = new Secrets();
  secrets.add("pass&word");
  secrets.addSession("OpaqueRef:a<b");
  t.equal(
    secrets.scrub(
      "pass&word pass&amp;word pass%26word OpaqueRef:a<b OpaqueRef:a&lt;b OpaqueRef%3Aa%3Cb",
    ),
    "*** *** *** *** *** ***",
  );
  t.end();
});

t.test(
  "however often a client logs in, at most 64 sessions are masked, and the password always",
  (t) => {
    const secrets = new Secrets();
    secrets.add("a password");
    const { size: least } = secrets;
    const session = (i: number) => `OpaqueRef:${i}.`;
    secrets.addSession(session(0));
    const { size } = secrets;
    for (let i = 0; i < 1_000; i++) secrets.addSession(session(i));
    t.equal(secrets.size, least + 64 * (size - least));
    t.equal(secrets.scrub(`${session(999)} ${session(936)}`), "*** ***");
    t.equal(secrets.scrub(session(935)), session(935));
    t.equal(secrets.scrub("a password"), "***");
    t.end();
  },
);
