import t from "tap";
import { gzipSync } from "node:zlib";
import { OvaSource } from "../src/ovf/ova-source.js";
import { foreignImage } from "../src/target/foreign-image.js";
import { readXvaDisks } from "./read-xva.js";
import {
  manifestOf,
  ovaOf,
  ovfOf,
  streamOptimized,
  type FixtureVm,
} from "./foreign-fixtures.js";
import { halfRandom } from "./memory-disk.js";
import { seededRandom } from "./random.js";

const MIB = 1024 * 1024;

async function* inPieces(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 30_011)
    yield bytes.subarray(at, at + 30_011);
}

function newContent(seed: number, size: number): Buffer {
  const content = Buffer.alloc(size);
  halfRandom(seededRandom(seed), MIB).copy(content, 3 * MIB + 512);
  return content;
}

/** Imports an OVA as far as a pool would see it. */
async function importOva(ova: Buffer) {
  const source = await OvaSource.open(inPieces(ova));
  const folders = Object.fromEntries(
    source.vm.disks.map(({ id }, i) => [id, `Ref:${i + 2}`]),
  );
  const parts: Buffer[] = [];
  let failure: unknown;
  try {
    for await (const part of foreignImage(source, { ova: "<x/>", folders }))
      parts.push(Buffer.from(part));
  } catch (error) {
    failure = error;
  }
  const { disks, files } = readXvaDisks(Buffer.concat(parts), source.vm.disks);
  return { vm: source.vm, disks, files, failure };
}

const first = newContent(1, 8 * MIB);
const second = newContent(2, 5 * MIB + 1024);
const vm: FixtureVm = {
  disks: [
    { id: "system", size: first.length, file: "a.vmdk" },
    { id: "data", size: second.length, file: "b.vmdk" },
    { id: "empty", size: 3 * MIB },
  ],
  networks: ["VM Network", "Storage"],
  config: { firmware: "efi", "bootOptions.efiSecureBootEnabled": "true" },
};
const files = {
  "vm.ovf": ovfOf(vm),
  "a.vmdk": streamOptimized(first),
  "b.vmdk": streamOptimized(second),
};

t.test("a VM of an OVA is read with its disks", async (t) => {
  const { vm, disks, files: names, failure } = await importOva(ovaOf(files));
  t.equal(failure, undefined);
  t.match(vm, {
    name: "Web & mail",
    description: "Serves <things>",
    vcpus: 4,
    coresPerSocket: 2,
    memory: 2048 * MIB,
    firmware: "uefi",
    secureBoot: true,
    nics: [{ network: "VM Network" }, { network: "Storage" }],
  });
  t.same(
    vm.disks.map(({ id, size, position }) => [id, size, position]),
    [
      ["system", first.length, 0],
      ["data", second.length, 1],
      ["empty", 3 * MIB, 2],
    ],
  );
  t.ok(disks["system"]!.equals(first));
  t.ok(disks["data"]!.equals(second));
  t.ok(disks["empty"]!.equals(Buffer.alloc(3 * MIB)));
  t.notOk(names.includes("Ref:2/00000001"), "blocks of zeros are not sent");
  t.ok(names.includes("Ref:2/00000000"), "but the first");
  t.ok(names.includes("Ref:2/00000007"), "and the last");
});

t.test("disks may be packed with gzip", async (t) => {
  const disks = [
    { ...vm.disks[0]!, file: "a.vmdk.gz", compression: "gzip" },
    vm.disks[1]!,
  ];
  const { disks: read, failure } = await importOva(
    ovaOf({
      "vm.ovf": ovfOf({ ...vm, disks }),
      "a.vmdk.gz": gzipSync(files["a.vmdk"]),
      "b.vmdk": files["b.vmdk"],
    }),
  );
  t.equal(failure, undefined);
  t.ok(read["system"]!.equals(first));
  t.ok(read["data"]!.equals(second), "the file behind it is read");
});

t.test("a manifest is compared wherever it is", async (t) => {
  const { "vm.ovf": ovf, ...disks } = files;
  for (const kind of ["SHA1", "SHA256"] as const) {
    const mf = manifestOf(files, kind);
    for (const ova of [
      { "vm.ovf": ovf, "vm.mf": mf, ...disks },
      { ...files, "vm.mf": mf, "vm.cert": "ignored" },
    ])
      t.match(await importOva(ovaOf(ova)), { failure: undefined }, kind);
    const wrong = mf.replace(/[0-9a-f](?=\n$)/, (digit) =>
      digit === "0" ? "1" : "0",
    );
    for (const ova of [
      { "vm.ovf": ovf, "vm.mf": wrong, ...disks },
      { ...files, "vm.mf": wrong },
    ]) {
      const { failure, files: sent } = await importOva(ovaOf(ova));
      t.match(failure, {
        code: "source-invalid",
        message: /b\.vmdk does not match its checksum/,
      });
      t.notOk(
        sent.includes("Ref:4/00000002"),
        "the last block, by which a pool takes it as complete, is not sent",
      );
    }
  }
});

t.test("packages that cannot be imported are refused", async (t) => {
  const { "vm.ovf": ovf, "a.vmdk": a, "b.vmdk": b } = files;
  const whole = ovaOf(files);
  const cases: [string, Buffer, RegExp][] = [
    [
      "no descriptor first",
      ovaOf({ "a.vmdk": a, "vm.ovf": ovf }),
      /first file/,
    ],
    [
      "disks in another order",
      ovaOf({ "vm.ovf": ovf, "b.vmdk": b, "a.vmdk": a }),
      /b\.vmdk is not in the place/,
    ],
    [
      "a missing disk",
      ovaOf({ "vm.ovf": ovf, "a.vmdk": a }),
      /without the file b/,
    ],
    ["cut", whole.subarray(0, whole.length - 1024), /the stream ends after/],
    ["no archive", Buffer.alloc(2048, "x"), /no header of a file/],
    ["no XML", ovaOf({ "vm.ovf": "<a><b></a>" }), /closes <b>/],
    [
      "a document type",
      ovaOf({ "vm.ovf": '<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>' }),
      /no valid markup/,
    ],
    [
      "an unknown entity",
      ovaOf({ "vm.ovf": "<Envelope>&secret;</Envelope>" }),
      /unknown &secret;/,
    ],
    ["no VM", ovaOf({ "vm.ovf": "<Envelope/>" }), /has 0 VMs/],
    [
      "another format",
      ovaOf({ "vm.ovf": ovf.replaceAll(/[^"]*#streamOptimized/g, "qcow2") }),
      /only VMDK is supported/,
    ],
    [
      "a file elsewhere",
      ovaOf({ "vm.ovf": ovf.replace("a.vmdk", "http://host/a.vmdk") }),
      /is not in the package/,
    ],
    [
      "a disk that is described twice",
      ovaOf({ "vm.ovf": ovf.replace(/<Disk .*?\/>/s, "$&$&") }),
      /disk system is described twice/,
    ],
    [
      "a unit that is none",
      ovaOf({ "vm.ovf": ovf.replace("byte * 2^10", "acre") }),
      /the unit "acre"/,
    ],
  ];
  for (const [what, ova, message] of cases) {
    const failure = await importOva(ova).then(
      (done) => done.failure,
      (error: unknown) => error,
    );
    t.match(failure, { code: "source-invalid", message }, what);
  }
});
