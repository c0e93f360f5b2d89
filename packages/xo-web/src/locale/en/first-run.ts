export const firstRun = {};
