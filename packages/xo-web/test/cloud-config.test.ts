import t from "tap";
import {
  examples,
  templateFault,
} from "../src/settings/cloud-configs/cloud-config.js";

t.test("user data needs a header that guests know", async (t) => {
  t.equal(templateFault("user", " "), "required");
  t.equal(templateFault("user", "hostname: x"), "header");
  t.equal(templateFault("user", "#!/bin/sh\necho"), undefined);
  t.equal(templateFault("network", "version: 2"), undefined);
  t.equal(templateFault("user", examples.user), undefined);
  t.equal(templateFault("network", examples.network), undefined);
});
