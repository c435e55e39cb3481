export { addToFile } from './add-to-file.ts';
export { type AppendFile, openAppend } from './append-file.ts';
export { holdFile } from './held-file.ts';
export { makeFolder } from './make-folder.ts';
export { readReportPage } from './report-page.ts';
export { checkWritable, writeWhole } from './whole-file.ts';
export { writeErrorText } from './write-error.ts';
