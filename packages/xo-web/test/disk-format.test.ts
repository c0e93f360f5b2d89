import t from "tap";
import { readDiskFormat, typeOfName } from "../src/actions/plan/disk-format.js";
import { fileNameOf, isHttpUrl } from "../src/actions/plan/file-url.js";

const file = (name: string, content: string, offset = 0) => {
  const bytes = Buffer.alloc(offset + content.length + 16);
  bytes.write(content, offset, "latin1");
  return new File([bytes], name);
};

t.test("the content decides, whatever the name of a file is", async (t) => {
  t.same(await readDiskFormat(file("disk.img", "conectix")), { type: "vhd" });
  const image = file("install.bin", "CD001", 0x8001);
  t.same(await readDiskFormat(image), { type: "iso" });
  t.same(await readDiskFormat(file("disk", "")), { type: "raw" });
});

t.test("the end of a VHD of fixed size is for the server", async (t) => {
  t.same(await readDiskFormat(file("disk.VHD", "")), { type: "vhd" });
});

t.test("formats that would be unusable as raw disks are named", async (t) => {
  const formatOf = async (...[name, ...content]: Parameters<typeof file>) => {
    const format = await readDiskFormat(file(name, ...content));
    return format.type === "unsupported" ? format.format : format.type;
  };
  for (const [content, format] of [
    ["KDMV", "vmdk"],
    ["# Disk DescriptorFile", "VMDK without data"],
    ["QFI\u00fb", "qcow2"],
    ["vhdxfile", "vhdx"],
    ["<<< Oracle VM VirtualBox Disk Image >>>", "VDI (VirtualBox)"],
    ["\u001f\u008b", "gzip"],
    ["\u0028\u00b5\u002f\u00fd", "zstd"],
    ["\u00fd7zXZ", "xz"],
    ["PK\u0003\u0004", "ZIP"],
  ] as const)
    t.equal(await formatOf("disk.raw", content), format);
  t.equal(await formatOf("disk.raw", "ustar", 257), "OVA, XVA or tar");
  for (const extension of ["vmdk", "qcow2", "vhdx", "ova", "ovf"])
    t.equal(await formatOf(`a.${extension}`, ""), extension.toUpperCase());
  t.equal(await formatOf("vm.XVA", ""), "XVA");
  t.equal(await formatOf("install.iso", ""), "iso", "an ISO without CD001");
});

t.test("an empty file is no disk", async (t) => {
  const format = await readDiskFormat(new File([], "disk.raw"));
  t.same(format, { type: "unsupported", format: undefined });
});

t.test("of a file at a URL, only the name is known", async (t) => {
  t.equal(typeOfName("disk.VHD"), "vhd");
  t.equal(typeOfName("install.iso"), "iso");
  t.equal(typeOfName("disk.img"), "raw");
  t.equal(typeOfName("disk"), undefined);
  t.equal(
    fileNameOf("https://a.example/images/my%20disk.vhd?key=1"),
    "my disk.vhd",
  );
  t.equal(fileNameOf("https://a.example/%E0%A4%A"), "%E0%A4%A");
  t.equal(fileNameOf("https://a.example/"), "");
  t.equal(fileNameOf("disk.vhd"), "");
});

t.test("the server downloads from http and https URLs", async (t) => {
  t.ok(isHttpUrl("http://10.0.0.1:8080/disk.vhd"));
  t.ok(isHttpUrl("https://a.example/disk.vhd"));
  for (const text of [
    "",
    "disk.vhd",
    "file:///etc/passwd",
    "ftp://a.example/x",
  ])
    t.notOk(isHttpUrl(text), text);
});
