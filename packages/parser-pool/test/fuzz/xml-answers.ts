import { decodeAnswer, inEachShape } from "../support/fuzzed-answers.js";

const member = (name: string, value: string) =>
  `<member><name>${name}</name><value>${value}</value></member>`;
const RECORD = `<struct>${member("uuid", "a&amp;&#233;")}${member("power_state", "<string>Running</string>")}${member("is_a_template", "<boolean>0</boolean>")}${member("VBDs", "<array><data><value>OpaqueRef:2</value></data></array>")}${member("other_config", "<struct></struct>")}${member("start_time", "<dateTime.iso8601>20261121T00:00:00Z</dateTime.iso8601>")}${member("n", "<double>1.5</double>")}</struct>`;
const answer = (value: string) =>
  `<?xml version="1.0"?><methodResponse><params><param><value><struct>${member("Status", "Success")}${member("Value", value)}</struct></value></param></params></methodResponse>`;

export const seeds = inEachShape(
  answer(
    `<struct>${member("OpaqueRef:1", RECORD)}${member("OpaqueRef:2", RECORD)}</struct>`,
  ),
  answer(
    `<struct>${member("token", "12,3")}${member("valid_ref_counts", `<struct>${member("vm", "2")}</struct>`)}${member("events", `<array><data><value><struct>${member("class", "vm")}${member("operation", "mod")}${member("ref", "OpaqueRef:1")}${member("snapshot", RECORD)}</struct></value></data></array>`)}</struct>`,
  ),
  `<methodResponse><params><param><value><struct>${member("Status", "Failure")}${member("ErrorDescription", "<array><data><value>SESSION_INVALID</value></data></array>")}</struct></value></param></params></methodResponse>`,
  answer("<![CDATA[x]]><!-- c --><nil/>"),
);

export const run = (input: Buffer) => decodeAnswer("xml-rpc", input);
