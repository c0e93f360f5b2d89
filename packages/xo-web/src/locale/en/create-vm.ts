export const createVm = {};
