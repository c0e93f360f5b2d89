// Drives a pool with the npm package xen-api, the client of Xen Orchestra, and
// prints what it saw as one line of JSON. Its own process: it patches globals.
import { createClient } from "xen-api";

const [url] = process.argv.slice(2);
const xapi = createClient({
  url,
  auth: { user: "root", password: "password" },
  allowUnauthorized: true,
  watchEvents: true,
});
await xapi.connect();
await xapi.objectsFetched;
const objects = Object.values(xapi.objects.all);
const vm = objects.find(
  (object) =>
    object.$type === "VM" &&
    object.power_state === "Halted" &&
    !object.is_a_template &&
    !object.is_a_snapshot,
);
await xapi.setField("VM", vm.$ref, "name_description", "seen by a peer");
await xapi.barrier(vm.$ref);
const description = xapi.getObject(vm.$ref).name_description;
await xapi.callAsync("VM.start", vm.$ref, false, false);
await xapi.barrier(vm.$ref);
const powerState = xapi.getObject(vm.$ref).power_state;
const failure = await xapi
  .call("VM.start", vm.$ref, false, false)
  .catch(({ code, params }) => ({ code, params: params.slice(1) }));
await xapi.disconnect();
process.stdout.write(
  JSON.stringify({
    objects: objects.length,
    description,
    powerState,
    failure,
  }),
  () => process.exit(0),
);
