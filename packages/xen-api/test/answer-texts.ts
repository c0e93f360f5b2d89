export const json = (result: string) =>
  `{"jsonrpc":"2.0","result":${result},"id":0}`;
