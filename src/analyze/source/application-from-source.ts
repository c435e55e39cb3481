/**
 * From TypeScript and JavaScript files to an application. The reader runs the source on abstract values: functions in place, both sides of a
 * branch, loops once. It needs neither the packages nor the types of the sources: a driver is recognised by the module that is imported.
 */
import type { Dialect, Application } from '../application.ts';
import type { EntryPoint } from './entry-point.ts';
import type { TypeScript } from './load-typescript.ts';
import { loadProject } from './project.ts';
import type { TableColumns } from './table-columns.ts';
import { readUnits } from './units.ts';

export interface SourceOptions {
  readonly ts: TypeScript;
  /** Source files, and tsconfig.json and package.json for the names of modules, by path relative to the working directory. */
  readonly files: ReadonlyMap<string, string>;
  readonly schema: string;
  readonly dialect: Dialect;
  /** Of the schema, which `tableColumns` reads: what an object has of which the source does not say the fields. */
  readonly tables?: TableColumns;
  /** Units that are not found by themselves. */
  readonly entryPoints?: readonly EntryPoint[];
  /** Expressions that one unit may evaluate. */
  readonly stepsMax?: number;
}

/** @throws InputError analyze/no-source without any source file; analyze/unit where an entry point is no function of them. */
export function applicationFromSource({
  ts,
  files,
  schema,
  dialect,
  tables = new Map(),
  entryPoints = [],
  stepsMax = 200_000,
}: SourceOptions): Application {
  const project = loadProject(ts, files);
  const { notUnderstood, ...read } = readUnits(project, { dialect, tables, entryPoints, stepsMax });
  const faults = project.faulty.map(({ place, message }) => ({
    kind: 'not-understood' as const,
    place,
    reason: `the file does not parse: ${message}`,
  }));
  return { ...read, dialect, schema, notUnderstood: [...faults, ...notUnderstood] };
}
