import { decodeAnswer, inEachShape } from "../support/fuzzed-answers.js";

const RECORD =
  '{"uuid":"a","name_label":"b\\u00e9\\n","power_state":"Running","memory_static_max":"1024","VBDs":["OpaqueRef:2"],"other_config":{"k":"v"},"is_a_template":false,"last":NaN}';

export const seeds = inEachShape(
  `{"jsonrpc":"2.0","result":{"OpaqueRef:1":${RECORD},"OpaqueRef:2":${RECORD}},"id":1}`,
  `{"jsonrpc":"2.0","result":{"token":"12,3","valid_ref_counts":{"vm":2},"events":[{"id":"1","ts":"0.0","class":"vm","operation":"mod","ref":"OpaqueRef:1","snapshot":${RECORD}}]},"id":1}`,
  '{"jsonrpc":"2.0","error":{"code":1,"message":"SESSION_INVALID","data":["OpaqueRef:1"]},"id":1}',
  '{"jsonrpc":"2.0","result":[1,-2.5e3,true,null,"x"],"id":1}',
);

export const run = (input: Buffer) => decodeAnswer("json-rpc", input);
