/** Reads source files and prints the application, as the tests of the reader compare it. */
import type { Dialect } from '../application.ts';
import { formatApplication } from '../format-application.ts';
import { applicationFromSource, loadTypeScript } from './index.ts';

export const ts = await loadTypeScript();

export function read(
  files: Readonly<Record<string, string>>,
  places = false,
  stepsMax = 100_000,
  dialect: Dialect = 'postgres',
): string {
  const application = applicationFromSource({
    ts,
    files: new Map(Object.entries(files)),
    schema: '',
    dialect,
    stepsMax,
  });
  return formatApplication(application, { places });
}

/** How a file with a pool of pg begins. */
export const pg = `import { Pool } from 'pg';\nconst pool = new Pool();\n`;
