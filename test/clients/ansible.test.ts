import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import {
  clientFile,
  missing,
  startTestbed,
  PASSWORD,
  USER,
} from "./testbed.js";
import { runClient } from "./run-client.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
t.comment("timeout=180000");

const ANSIBLE = ["python", "bin", "ansible-inventory"] as const;
const skip = missing(...ANSIBLE);

/** Text from outside, as Ansible marks it. */
const unsafe = (text: string) => ({ __ansible_unsafe: text });

interface Group {
  readonly hosts?: readonly string[];
}

t.test("Ansible reads its inventory from the server", { skip }, async (t) => {
  const { url, folder } = await startTestbed(t);
  const inventory = (password: string) => {
    const file = join(folder, "testbed.xen_orchestra.yml");
    const settings = {
      plugin: "community.general.xen_orchestra",
      api_host: new URL(url).host,
      user: USER,
      password,
      use_ssl: false,
    };
    // On one line, Ansible would take it for a list of hosts.
    writeFileSync(file, JSON.stringify(settings, undefined, 2));
    return runClient(clientFile(...ANSIBLE), ["-i", file, "--list"], {
      cwd: folder,
    });
  };
  const { code, stdout, stderr } = await inventory(PASSWORD);
  t.equal(code, 0, stderr);
  const { _meta, ...groups } = JSON.parse(stdout) as {
    _meta: { hostvars: Record<string, Record<string, unknown>> };
  } & Record<string, Group>;
  const count = (name: string) => groups[name]?.hosts?.length ?? 0;
  const vms = ["running", "halted", "paused", "suspended"].map(count);
  const hosts = count("xo_hosts");
  t.equal(hosts, 3);
  const all = vms.reduce((sum, one) => sum + one, 0);
  t.equal(all, 60);
  t.equal(count("xo_pool_c"), all + hosts);
  t.equal(count("with_ip") + count("without_ip"), all);
  const onHosts = Object.keys(groups).filter((name) => /^xo_host_/.test(name));
  t.equal(onHosts.length, hosts);
  const [first] = groups["running"]!.hosts!;
  t.match(_meta.hostvars[first!], {
    uuid: unsafe(first!),
    power_state: unsafe("running"),
    cpus: Number,
    memory: Number,
    has_ip: Boolean,
    is_managed: Boolean,
    os_version: Object,
  });

  const refused = await inventory("wrong");
  // Its lines are as wide as a terminal.
  const output = refused.stderr.replace(/\s+/g, " ");
  t.match(output, /Could not connect: .*'message': 'invalid credentials'/);
});
