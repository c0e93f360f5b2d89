import t from "tap";
import { en } from "../src/locale/en/all.js";
import { Formats } from "../src/locale/formats.js";
import {
  toUsageEntries,
  toUsageJob,
  usageInputErrorsOf,
  type UsageReportJob,
} from "../src/settings/usage-reports/usage-report.js";
import {
  figureRows,
  valueText,
} from "../src/settings/usage-reports/usage-text.js";

const job: UsageReportJob = {
  id: "j",
  name: "weekly",
  type: "usageReport",
  pools: ["p"],
  period: "month",
  top: 5,
  addresses: ["a@example.org", "b@example.org"],
};
const localization = {
  texts: en.usageReports,
  formats: new Formats("en", en),
  unknown: en.ui.unknown,
};

t.test("the form of a report changes nothing by itself", async (t) => {
  const { id, ...properties } = job;
  t.equal(id, "j");
  t.same(toUsageJob(toUsageEntries(job), job), properties);
  const all = { ...toUsageEntries(job), allPools: true };
  t.equal(toUsageJob(all, job)["pools"], null, "the choice is removed");
  t.notOk("pools" in toUsageJob(all, undefined));
});

t.test("what is missing or wrong is reported at its field", async (t) => {
  t.same(usageInputErrorsOf(toUsageEntries(job)), {});
  t.same(
    usageInputErrorsOf({
      name: " ",
      allPools: false,
      pools: [],
      period: "day",
      top: "101",
      addresses: "nobody",
    }),
    {
      name: "required",
      pools: "pools",
      top: "number",
      addresses: "addresses",
    },
  );
  const entries = { ...toUsageEntries(job), addresses: " , " };
  t.same(usageInputErrorsOf(entries), { addresses: "required" });
});

t.test("figures with their changes", async (t) => {
  const totals = {
    id: "p",
    name: "P",
    hosts: 3,
    vms: 12,
    runningVms: 5,
    cpu: 20,
    memory: 2 ** 34,
    memorySize: 2 ** 35,
    storage: 0,
    storageSize: 2 ** 40,
  };
  const before = { ...totals, vms: 14, cpu: 17.5, memory: null };
  t.match(figureRows({ ...totals, before }, localization), [
    { name: "Hosts", value: "3", change: "" },
    { name: "VMs", value: "12", change: "−2" },
    { name: "Running VMs", value: "5", change: "" },
    { name: "CPU usage", value: "20.0 %", change: "+2.5 %" },
    { name: "Memory usage", value: "16 GiB of 32 GiB", change: "" },
    { name: "Used space of SRs", change: "" },
  ]);
  t.match(figureRows({ ...totals, cpu: null }, localization)[3], {
    value: "unknown",
  });
  t.equal(valueText("vmCpu", 12.34, localization), "12.3 %");
  t.match(valueText("vmDisk", 1e6, localization), /\/s$/);
});
