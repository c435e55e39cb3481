export { type EntryPoint, parseEntryPoint } from './entry-point.ts';
export { applicationFromSource, type SourceOptions } from './application-from-source.ts';
export { type DatabaseEvidence, databasesOf } from './database-of-source.ts';
export { loadTypeScript } from './load-typescript.ts';
export { isSource } from './project.ts';
export { tableColumns } from './table-columns.ts';
