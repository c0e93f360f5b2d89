export declare function toLicenseTexts(
  root: string,
  modules: Iterable<string>,
): Promise<string>;
