export const idle = async () => ({rows:[['']],goals:[]}), growth=idle
