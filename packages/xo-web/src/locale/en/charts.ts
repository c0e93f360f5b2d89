export const charts = {};
