import { decodeAnswer, inEachShape } from "../support/fuzzed-answers.js";

const answer = (json: string) =>
  `<?xml version="1.0"?><methodResponse><params><param><value>${json}</value></param></params></methodResponse>`;
const RECORD = '{"uuid":"a","name_label":"b &amp; c","VBDs":["OpaqueRef:2"]}';

export const seeds = inEachShape(
  answer(`{"Status":"Success","Value":{"OpaqueRef:1":${RECORD}}}`),
  answer(
    `{"Status":"Success","Value":{"token":"1,2","events":[{"class":"vm","operation":"add","ref":"OpaqueRef:1","snapshot":${RECORD}}]}}`,
  ),
  answer(
    '{"Status":"Failure","ErrorDescription":["HOST_IS_SLAVE","192.0.2.1"]}',
  ),
  answer(
    `<struct><member><name>Status</name><value>Success</value></member><member><name>Value</name><value>${RECORD}</value></member></struct>`,
  ),
);

export const run = (input: Buffer) => decodeAnswer("json-in-xml", input);
