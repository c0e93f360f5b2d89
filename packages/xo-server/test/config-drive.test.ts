import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { writeConfigImage } from "../src/vms/drives/config-drive.js";
import { readFatImage } from "./fat-reader.js";

const VM = "c539d725-fe99-47c3-ad44-f2dcc1cad639";

t.test("cloud-init finds its files on the config drive", async (t) => {
  const userData = `#cloud-config\nhostname: "é"\n${"# long\n".repeat(5000)}`;
  const image = writeConfigImage(
    { userData, networkConfig: "version: 2\n" },
    VM,
  );
  t.equal(image.length, 4 * 2 ** 20);
  const { label, clusters, files } = readFatImage(image);
  t.equal(label, "cidata");
  t.ok(clusters >= 4085 && clusters < 65525, "what makes it FAT16");
  t.same(
    [...files].map(([name, content]) => [name, content.toString()]),
    [
      ["meta-data", `instance-id: ${VM}\n`],
      ["user-data", userData],
      ["network-config", "version: 2\n"],
    ],
  );
});

t.test("other programs read it", async (t) => {
  const home = t.testdir({});
  const path = join(home, "image");
  writeFileSync(path, writeConfigImage({ userData: "x" }, VM));
  const blkid = spawnSync("/usr/sbin/blkid", ["-p", "-o", "export", path]);
  if (blkid.error !== undefined) {
    t.pass("skipped: blkid is not here");
    return;
  }
  const output = blkid.stdout.toString();
  t.match(output, /^TYPE=vfat$/m);
  t.match(output, /^LABEL=cidata$/m);
  t.match(output, /^VERSION=FAT16$/m);
});

t.test("unsuitable values are refused", async (t) => {
  const most = { userData: "x".repeat(4_140_000) };
  t.equal(readFatImage(writeConfigImage(most, VM)).files.size, 2);
  t.throws(() => writeConfigImage({ userData: "x".repeat(4_200_000) }, VM), {
    code: "INVALID_PARAMETERS",
    data: { reason: /4200050 bytes, a config drive has room for/ },
  });
});
