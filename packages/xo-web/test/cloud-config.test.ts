import t from "tap";
import {
  examples,
  templateInputError,
} from "../src/settings/cloud-configs/cloud-config.js";

t.test("user data needs a header that guests know", async (t) => {
  t.equal(templateInputError("user", " "), "required");
  t.equal(templateInputError("user", "hostname: x"), "header");
  t.equal(templateInputError("user", "#!/bin/sh\necho"), undefined);
  t.equal(templateInputError("network", "version: 2"), undefined);
  t.equal(templateInputError("user", examples.user), undefined);
  t.equal(templateInputError("network", examples.network), undefined);
});
