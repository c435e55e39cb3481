/** `moirai analyze`, in this process: the table, exit codes, --json, --sarif, --fix, --changed, --out. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  application,
  argument,
  column,
  expression,
  statement,
  transaction,
  type UnitStep,
} from '../../src/analyze/index.ts';
import { runGit } from '../../src/cli/analyze/run-git.ts';
import { trafficTests } from '../support/analyze-traffic-tests.ts';
import { root, runHere, UserFolder } from '../support/cli.ts';

const schema = 'CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL)';
const deposit: UnitStep = transaction('deposit', null, [
  statement('SELECT balance FROM accounts WHERE id = $1', [argument('id')], 'account'),
  statement('UPDATE accounts SET balance = $2 WHERE id = $1', [
    argument('id'),
    expression('+', column('account', 'balance'), argument('amount')),
  ]),
]);
const at = (line: number): string => `test/cli/analyze.test.ts:${line}`;

const files = {
  'bank.ts': application({ schema, units: { deposit: [deposit] } }),
  'odd.ts': application({ schema, units: { odd: [statement('SELECT pg_advisory_lock(1)')] } }),
  'empty.ts': application({ schema, units: {} }),
  'not.ts': { sessions: {} },
  'broken.ts': application({ schema: 'CREATE TABLE', units: { deposit: [deposit] } }),
};

let folder: UserFolder;
beforeAll(() => {
  folder = new UserFolder();
});
afterAll(() => folder.remove());

test('a confirmed anomaly: 1, the table, the statements, the change', async () => {
  expect(await runHere(['analyze', 'bank.ts'], files)).toEqual({
    code: 1,
    err: '',
    out: `1 transaction in 1 unit

transaction  place                        now             weakest safe level  smallest change
deposit      ${at(21)}  read committed  repeatable read     FOR UPDATE at ${at(21)}; then read committed

1. lost-update: deposit with itself
   both read a row, then both write it: the second write undoes the first
   ${at(21)}  SELECT balance FROM accounts WHERE id = $1
   ${at(22)}  UPDATE accounts SET balance = $2 WHERE id = $1
   confirmed: in 4 of 6 schedules the database ends as it never does when they run one after the other
   with FOR UPDATE at ${at(21)}: 0 of 4 schedules; proven for any rows
`,
  });
});

test('at another level: 0, with what is assumed', async () => {
  expect(await runHere(['analyze', 'bank.ts', '--isolation', 'repeatable read'], files)).toMatchObject({
    code: 0,
    out: expect.stringContaining(`robust: at these levels every schedule of these transactions is serializable
  assumed: all transactions on these tables are among those that were found`),
  });
});

describe('--engine mariadb', () => {
  const source = {
    'src/accounts.ts': `import { createPool } from 'mysql2/promise';
const pool = createPool({});
export async function deposit(id: number, amount: number): Promise<void> {
  const connection = await pool.getConnection();
  await connection.beginTransaction();
  const [[account]] = await connection.query('SELECT Balance FROM accounts WHERE id = ?', [id]);
  await connection.query('UPDATE accounts SET balance = ? WHERE id = ? LIMIT 1', [account.Balance + amount, id]);
  await connection.commit();
}
`,
    'schema.sql': schema,
  };
  const run = (...options: readonly string[]): ReturnType<typeof runHere> =>
    runHere(['analyze', 'src', '--schema', 'schema.sql', '--engine', 'mariadb', ...options], source);

  test('repeatable read, its default, loses updates: a lock mends it', async () => {
    expect(await run()).toEqual({
      code: 1,
      err: '',
      out: `1 transaction in 1 unit

transaction  place              now              weakest safe level  smallest change
deposit      src/accounts.ts:5  repeatable read  serializable        FOR UPDATE at src/accounts.ts:6; then read committed

1. lost-update: deposit with itself
   both read a row, then both write it: the second write undoes the first
   src/accounts.ts:6  SELECT Balance FROM accounts WHERE id = ?
   src/accounts.ts:7  UPDATE accounts SET balance = ? WHERE id = ? LIMIT 1
   confirmed: in 4 of 6 schedules the database ends as it never does when they run one after the other
   with FOR UPDATE at src/accounts.ts:6: 0 of 6 schedules; proven for any rows
`,
    });
  });

  test('serializable is robust; of read uncommitted nothing is said', async () => {
    expect(await run('--isolation', 'serializable')).toMatchObject({ code: 0 });
    const { code, out } = await run('--isolation', 'read uncommitted');
    expect([code, out]).toEqual([2, expect.stringContaining('src/accounts.ts:5  read uncommitted is not analyzed')]);
  });
});

test('what is not understood: 2, by file and line', async () => {
  const { code, out } = await runHere(['analyze', 'odd.ts'], files);
  expect(code).toBe(2);
  expect(out).toContain('1 transaction in 1 unit; 1 place not understood');
  expect(out).toContain(`${at(31)}  the function pg_advisory_lock`);
});

test('no transaction at all: 2', async () => {
  const { code, out } = await runHere(['analyze', 'empty.ts'], files);
  expect([code, out]).toEqual([2, expect.stringContaining('no transaction was found')]);
});

test('interrupted before the source is read: 2', async () => {
  const interruption = new AbortController();
  const changes = { interruption: interruption.signal, loadDefault: () => new Promise<never>(() => {}) };
  const running = runHere(['analyze', 'bank.ts', '--json'], files, changes);
  interruption.abort();
  const { code, out, err } = await running;
  expect({ code, err }).toEqual({ code: 2, err: 'bank.ts: interrupted before the source was read\n' });
  expect(JSON.parse(out)).toMatchObject({ verdict: 'unknown', gaps: ['interrupted before the source was read'] });
});

describe('bad input: 3', () => {
  test.each([
    ['not.ts', 'the default export is no application'],
    ['broken.ts', 'the schema does not run: syntax error'],
  ])('%s', async (file, message) => {
    expect(await runHere(['analyze', file], files)).toMatchObject({
      code: 3,
      out: '',
      err: expect.stringContaining(message),
    });
  });

  const failure = '{\n  "moirai": "failure"';
  const history = '{"moirai":"history","version":1}\n';
  const trace = '{"moirai":"trace","version":1}\n';
  const verify = ['verify', '--engine', 'postgres', '--isolation', 'serializable'];
  test.each([
    [['check'], failure, 'this is the record of a failure, not a history: moirai replay reads it'],
    [['check'], trace, 'this is a trace, not a history: moirai verify reads it'],
    [verify, failure, 'this is the record of a failure, not a trace: moirai replay reads it'],
    [verify, history, 'this is a history, not a trace: moirai check reads it'],
    [['replay'], trace, 'this is a trace, not the record of a failure: moirai verify reads it'],
    [['analyze'], failure, 'this is the record of a failure, not a trace: moirai replay reads it'],
    [['analyze'], 'CREATE TABLE', 'this is neither TypeScript or JavaScript nor a trace'],
    [['analyze'], trace, 'a trace needs the schema of its database: moirai analyze kept.json'],
  ])('%s of a file that another command reads', async (command, text, message) => {
    const { code, out, err } = await runHere([...command, 'kept.json'], { 'kept.json': text });
    expect([code, out, err]).toEqual([3, '', expect.stringMatching(new RegExp(`^(kept.json: )?${message}.*\\n$`))]);
  });

  test.each([
    ['that does not parse', 'CREATE TABLE a (id int);\n\nCREATE TABLE', '3: the schema does not run: syntax error'],
    ['behind a command of psql', '\\restrict x\n-- \u00e9\nCREATE TABLE', '3: the schema does not run: syntax error'],
    [
      'that fails',
      'CREATE TABLE a (id int);\n/* no\n */ CREATE TABLE a (id int)',
      '3: the schema does not run: relation',
    ],
  ])('DDL %s: its line', async (_what, ddl, message) => {
    const source = { 'src/a.js': '', 'ddl.sql': ddl };
    const { code, err } = await runHere(['analyze', 'src', '--schema', 'ddl.sql'], source);
    expect([code, err]).toEqual([3, expect.stringContaining(`ddl.sql:${message}`)]);
  });

  test('DDL of a folder that fails: its file, and the line there', async () => {
    const source = {
      'src/a.js': '',
      'ddl/1.sql': 'CREATE TABLE a (id int);\n-- no more',
      'ddl/2.sql': '\nCREATE TABLE b (id int);\nCREATE TABLE a (id int);\n',
      'ddl/3.sql': 'CREATE TABLE c (id int)',
    };
    const { code, err } = await runHere(['analyze', 'src', '--schema', 'ddl'], source);
    expect([code, err]).toEqual([3, expect.stringMatching(/^ddl.2\.sql:3: the schema does not run: relation "a"/)]);
  });

  test('a folder without source', async () => {
    const { code, err } = await runHere(['analyze', 'docs', '--schema', 'docs/a.sql'], { 'docs/a.sql': schema });
    expect([code, err]).toEqual([
      3,
      expect.stringContaining('docs: there is no TypeScript or JavaScript file to read'),
    ]);
  });

  test('a level that is none', async () => {
    const { code, err } = await runHere(['analyze', 'bank.ts', '--isolation', 'best'], files);
    expect([code, err]).toEqual([3, expect.stringContaining('"best" is none of the levels')]);
  });
});

test('--json and --out', async () => {
  const written = new Map<string, string>();
  const writeOutput = async (path: string, parts: Iterable<Uint8Array>): Promise<void> =>
    void written.set(path, [...parts].map((part) => new TextDecoder().decode(part)).join(''));
  const { code, out } = await runHere(['analyze', 'bank.ts', '--json', '--out', folder.path], files, { writeOutput });
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({
    verdict: 'violated',
    transactions: [
      {
        name: 'deposit',
        file: 'test/cli/analyze.test.ts',
        line: 21,
        level: 'read committed',
        weakest: 'repeatable read',
      },
    ],
    anomalies: [
      {
        name: 'lost-update',
        status: 'confirmed',
        transactions: ['deposit'],
        statements: [{ line: 21 }, { line: 22 }],
        differs: 'internal',
        program: `${folder.path}/1-lost-update.program.ts`,
        fix: { text: `FOR UPDATE at ${at(21)}`, holds: true, proven: true },
      },
    ],
    notUnderstood: [],
  });
  expect([...written.keys()]).toEqual([`${folder.path}/1-lost-update.program.ts`]);
  expect([...written.values()][0]).toContain("import { witnessProgram } from 'moirai/analyze';");
});

/** What SARIF 2.1.0 demands of a log (3.13, 3.14, 3.18, 3.19, 3.20, 3.27, 3.28) and what a code host needs to mark a line. */
interface SarifLog {
  readonly version: string;
  readonly runs: readonly {
    readonly tool: { readonly driver: { readonly name: string; readonly rules: readonly { readonly id: string }[] } };
    readonly invocations: readonly { readonly executionSuccessful: boolean }[];
    readonly results: readonly {
      readonly ruleId: string;
      readonly ruleIndex: number;
      readonly level: string;
      readonly message: { readonly text: string };
      readonly locations: readonly SarifLocation[];
      readonly relatedLocations?: readonly (SarifLocation & { readonly id: number })[];
    }[];
  }[];
}

interface SarifLocation {
  readonly message: { readonly text: string };
  readonly physicalLocation: {
    readonly artifactLocation: { readonly uri: string; readonly uriBaseId: string };
    readonly region: { readonly startLine: number };
  };
}

describe('--sarif', () => {
  const place = ({ message, physicalLocation: { artifactLocation, region } }: SarifLocation): readonly unknown[] => [
    artifactLocation.uri,
    artifactLocation.uriBaseId,
    region.startLine,
    message.text,
  ];

  test('an anomaly is an error of the rule of its name, at its statements', async () => {
    const { code, out } = await runHere(['analyze', 'bank.ts', '--sarif'], files);
    const { version, runs } = JSON.parse(out) as SarifLog;
    expect([code, version, runs.length]).toEqual([1, '2.1.0', 1]);
    const [{ tool, invocations, results }] = runs as [SarifLog['runs'][0]];
    expect([tool.driver.name, tool.driver.rules.map(({ id }) => id)]).toEqual(['moirai', ['lost-update']]);
    expect(invocations).toEqual([{ executionSuccessful: true }]);
    expect(results).toMatchObject([{ ruleId: 'lost-update', ruleIndex: 0, level: 'error' }]);
    const [{ message, locations, relatedLocations = [] }] = results as [(typeof results)[0]];
    expect(
      message.text,
    ).toBe(`lost-update: deposit with itself; confirmed: in 4 of 6 schedules the database ends as it never does when they run one after the other.
With FOR UPDATE at ${at(21)}: 0 of 4 schedules; proven for any rows.`);
    const file = ['test/cli/analyze.test.ts', '%SRCROOT%'];
    expect(locations.map(place)).toEqual([[...file, 21, 'SELECT balance FROM accounts WHERE id = $1']]);
    expect(relatedLocations.map((one) => [one.id, ...place(one)])).toEqual([
      [0, ...file, 22, 'UPDATE accounts SET balance = $2 WHERE id = $1'],
    ]);
  });

  test('what is not understood is a note; with a file, the table is printed as ever', async () => {
    const written = new Map<string, string>();
    const writeOutput = async (path: string, parts: Iterable<Uint8Array>): Promise<void> =>
      void written.set(path, [...parts].map((part) => new TextDecoder().decode(part)).join(''));
    const { code, out } = await runHere(['analyze', 'odd.ts', '--sarif', 'odd.sarif'], files, { writeOutput });
    expect([code, out]).toEqual([2, expect.stringContaining('1 transaction in 1 unit; 1 place not understood')]);
    const { runs } = JSON.parse(written.get('odd.sarif') ?? '') as SarifLog;
    expect(runs[0]?.results).toMatchObject([
      { ruleId: 'not-understood', level: 'note', message: { text: 'not understood: the function pg_advisory_lock' } },
    ]);
    expect(runs[0]?.results[0]?.locations.map(place)).toMatchObject([
      [expect.anything(), expect.anything(), 31, expect.anything()],
    ]);
  });

  test('before the file that is analyzed: it has no file of its own', async () => {
    const { code, out } = await runHere(['analyze', '--sarif', 'odd.ts'], files);
    expect([code, (JSON.parse(out) as SarifLog).version]).toEqual([2, '2.1.0']);
    expect(await runHere(['analyze', '--sarif'], files)).toMatchObject({ code: 3 });
    expect(await runHere(['analyze', '--sarif', 'bank.ts', '--changed', 'main'], files)).toMatchObject({
      code: 3,
      err: expect.stringContaining('--sarif=bank.ts'),
    });
  });

  test('both printed: bad input', async () => {
    expect(await runHere(['analyze', 'bank.ts', '--sarif', '--json'], files)).toMatchObject({ code: 3, out: '' });
  });
});

describe('--fix', () => {
  const example = (name: string): string => readFileSync(join(root, 'examples/analyze/deposit', name), 'utf8');
  const bank = {
    'bank/accounts.ts': example('src/accounts.ts'),
    'bank/database.ts': example('src/database.ts'),
    'schema.sql': example('schema.sql'),
  };
  const command = ['analyze', 'bank', '--schema', 'schema.sql'];

  test('a patch that git applies; the patched source is robust, and --write writes the same', async () => {
    const { code, out, err } = await runHere([...command, '--fix'], bank);
    expect([code, err]).toEqual([1, 'with this patch: robust\n']);
    folder.write({ ...bank, 'fix.patch': out });
    execFileSync('git', ['apply', 'fix.patch'], {
      cwd: folder.path,
      env: { ...process.env, GIT_CEILING_DIRECTORIES: join(folder.path, '..') },
    });
    const patched = readFileSync(join(folder.path, 'bank/accounts.ts'), 'utf8');
    expect(patched).not.toBe(bank['bank/accounts.ts']);
    expect(await runHere(command, { ...bank, 'bank/accounts.ts': patched })).toMatchObject({ code: 0 });

    const written = new Map<string, string>();
    const writeOutput = async (path: string, parts: Iterable<Uint8Array>): Promise<void> =>
      void written.set(path, [...parts].map((part) => new TextDecoder().decode(part)).join(''));
    expect(await runHere([...command, '--fix', '--write'], bank, { writeOutput })).toMatchObject({ code: 0, out: '' });
    expect([...written]).toEqual([['bank/accounts.ts', patched]]);
  });

  test('--write keeps the byte order mark and the line ends of a file', async () => {
    const marked = `\uFEFF${bank['bank/accounts.ts'].replaceAll('\n', '\r\n')}`;
    const written = new Map<string, string>();
    const writeOutput = async (path: string, parts: Iterable<Uint8Array>): Promise<void> =>
      void written.set(path, Buffer.concat([...parts]).toString());
    const before = { ...bank, 'bank/accounts.ts': marked };
    expect(await runHere([...command, '--fix', '--write'], before, { writeOutput })).toMatchObject({ code: 0 });
    const locked = 'WHERE id = $1 FOR UPDATE';
    expect(written.get('bank/accounts.ts')).toBe(marked.replace('WHERE id = $1', locked));
  });

  test('a file that is not UTF-8 is not changed', async () => {
    const { sourceEdits } = await import('../../src/analyze/patch/index.ts');
    const { loadTypeScript } = await import('../../src/analyze/source/index.ts');
    const sql = 'SELECT balance FROM accounts WHERE id = $1';
    const sources = new Map([['bank.ts', `// \uFFFD\nquery('${sql}');\n`]]);
    const change = {
      kind: 'lock',
      clause: 'FOR UPDATE',
      transaction: 'deposit',
      place: { file: 'bank.ts', line: 2 },
      sql,
    } as const;
    const edits = sourceEdits(await loadTypeScript(), sources, [change], () => undefined);
    expect([edits.files.size, edits.refused]).toEqual([0, [{ change, reason: 'bank.ts is not UTF-8' }]]);
  });

  const unit = (level: string, sql: string): string => `import { Pool } from 'pg';
const pool = new Pool();
const table = 'accounts';
export async function register(id: number): Promise<void> {
  const client = await pool.connect();
  await client.query('BEGIN${level}');
  const { rows } = await client.query(${sql});
  await client.query('INSERT INTO accounts (id, balance) VALUES ($1, $2)', [id, 20 + rows[0].n]);
  await client.query('COMMIT');
}
`;
  const count = 'SELECT count(*) AS n FROM accounts WHERE balance > 10';

  test('a level, where the source names one', async () => {
    const source = {
      'schema.sql': bank['schema.sql'],
      'bank/accounts.ts': unit(' ISOLATION LEVEL REPEATABLE READ', `'${count}'`),
    };
    const { out, err } = await runHere([...command, '--fix'], source);
    expect(out).toContain(`@@ -3,7 +3,7 @@
 const table = 'accounts';
 export async function register(id: number): Promise<void> {
   const client = await pool.connect();
-  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
+  await client.query('BEGIN ISOLATION LEVEL SERIALIZABLE');
`);
    expect(err).toBe(`with this patch: robust
a transaction at the raised level must be tried again after error 40001
`);
  });

  test('SQL that is put together is not changed, with the reason', async () => {
    const read = "'SELECT balance FROM ' + table + ' WHERE id = $1'";
    const source = {
      ...bank,
      'bank/accounts.ts': bank['bank/accounts.ts']
        .replace("'SELECT balance FROM accounts WHERE id = $1'", read)
        .replace('export', "const table = 'accounts';\nexport"),
    };
    // The other SELECT is a literal with the same text, at another place.
    const alone = {
      ...source,
      'bank/accounts.ts': source['bank/accounts.ts'].replace(/export async function balance[^]*/, ''),
    };
    expect(await runHere([...command, '--fix'], alone)).toEqual({
      code: 1,
      out: '',
      err: 'not in the patch: deposit: FOR UPDATE at bank/accounts.ts:7: the SQL text of bank/accounts.ts:7 is not a plain literal in the source\n',
    });
    expect(await runHere([...command, '--fix'], source)).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('no patch: deposit with itself would be left'),
    });
  });

  test.each([
    [['bank.ts', '--fix'], '--fix changes source'],
    [['bank.ts', '--write'], '--write applies the patch of --fix'],
    [['bank.ts', '--fix', '--json'], '--json and --fix each print their own'],
  ])('bad input: %s', async (args, message) => {
    expect(await runHere(['analyze', ...args], files)).toMatchObject({
      code: 3,
      out: '',
      err: expect.stringContaining(message),
    });
  });
});

test('--changed: the units whose functions a change touches, with those that conflict', async () => {
  const user = new UserFolder();
  const git = (args: readonly string[]): Promise<string | null> => runGit(args, user.path);
  const unit = (name: string, sql: string): string => `export async function ${name}(id: number): Promise<void> {
  await pool.query(
    ${JSON.stringify(sql)},
    [id],
  );
}
`;
  const source = {
    'src/bank.ts': `import { Pool } from 'pg';
const pool = new Pool();
${unit('open', 'INSERT INTO accounts (id, balance) VALUES ($1, 0)')}${unit('close', 'DELETE FROM accounts WHERE id = $1')}`,
    'src/notes.ts': `import { Pool } from 'pg';
const pool = new Pool();
${unit('note', 'INSERT INTO notes (id) VALUES ($1)')}`,
    'schema.sql': `${schema};\nCREATE TABLE notes (id int PRIMARY KEY);\n`,
  };
  user.write(source);
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.org'];
  for (const args of [
    ['init', '-q', '-b', 'main'],
    ['add', '.'],
    [...identity, 'commit', '-qm', 'a'],
  ])
    await git(args);
  const changed = async (edits: Readonly<Record<string, string>>, base: readonly string[] = []): Promise<unknown> => {
    const now = { ...source, ...edits };
    user.write(now);
    const { code, out, err } = await runHere(
      ['analyze', 'src', '--schema', 'schema.sql', '--json', '--changed', ...base],
      now,
      { git },
    );
    if (code === 3) return err;
    return [code, (JSON.parse(out) as { transactions: { name: string }[] }).transactions.map(({ name }) => name)];
  };
  try {
    expect(await changed({})).toEqual([0, []]);
    expect(await changed({ 'README.md': 'new' })).toEqual([0, []]);
    const untouched = await runHere(['analyze', 'src', '--schema', 'schema.sql', '--changed'], source, { git });
    expect(untouched.out).toBe('0 transactions in 0 units\n\nnothing to analyze: the change touches no transaction\n');
    const closed = source['src/bank.ts'].replace(/\[id\],\n {2}\);\n\}\n$/, '[id + 1],\n  );\n}\n');
    expect(closed).not.toBe(source['src/bank.ts']);
    expect(await changed({ 'src/bank.ts': closed })).toEqual([0, ['open', 'close']]);
    expect(
      await changed({ 'src/notes.ts': source['src/notes.ts'].replace('new Pool()', 'new Pool({})') }, ['HEAD']),
    ).toEqual([0, ['note']]);
    expect(await changed({ 'src/more.ts': source['src/notes.ts'].replace('note(', 'more(') })).toEqual([
      0,
      ['more', 'note'],
    ]);
    expect(await changed({ 'schema.sql': `${source['schema.sql']}\n` })).toEqual([0, ['open', 'close', 'note']]);
    const unread = source['src/notes.ts'].replace('  );', '  );\n  await pool.query(process.argv[2]);');
    user.write({ ...source, 'src/notes.ts': unread });
    for (const args of [
      ['add', '.'],
      [...identity, 'commit', '-qm', 'b'],
    ])
      await git(args);
    expect(await changed({ 'src/notes.ts': unread }, ['HEAD'])).toEqual([2, ['note']]);
    expect(await changed({}, ['nowhere'])).toContain('git finds no commit nowhere');
  } finally {
    user.remove();
  }
});

/** `packages/db` has the statements, `apps/web` the transaction. */
const workspace = {
  'acme/package.json': '{ "name": "acme", "private": true, "workspaces": ["apps/*", "packages/*"] }',
  'acme/packages/db/package.json': '{ "name": "@acme/db", "exports": "./src/index.ts" }',
  'acme/packages/db/src/index.ts': `import { Pool } from 'pg';
export const pool = new Pool();
export async function balanceOf(client, id) {
  const { rows } = await client.query('SELECT balance FROM accounts WHERE id = $1', [id]);
  return rows[0].balance;
}
export async function setBalance(client, id, balance) {
  await client.query('UPDATE accounts SET balance = $2 WHERE id = $1', [id, balance]);
}
`,
  'acme/apps/web/package.json': '{ "name": "@acme/web", "dependencies": { "@acme/db": "*" } }',
  'acme/apps/web/pay.ts': `import { pool, balanceOf, setBalance } from '@acme/db';
export async function pay(id) {
  const client = await pool.connect();
  await client.query('BEGIN');
  await setBalance(client, id, (await balanceOf(client, id)) - 1);
  await client.query('COMMIT');
  client.release();
}
`,
  'schema.sql': schema,
};

test('the packages of a workspace import each other by their names', async () => {
  const { code, out } = await runHere(['analyze', 'acme', '--schema', 'schema.sql', '--json'], workspace);
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({
    transactions: [{ name: 'pay' }],
    anomalies: [{ name: 'lost-update', status: 'confirmed' }],
  });
});

test('--unit: a function that nothing says is a unit, and one that another unit calls', async () => {
  const source = {
    'src/jobs/night.ts': `import { Pool } from 'pg';
const pool = new Pool();
async function sweep(): Promise<void> {
  await pool.query('SELECT balance FROM accounts WHERE id = 1');
}
export const close = (id: number) => pool.query('SELECT balance FROM accounts WHERE id = $1', [id]);
export const closeTwo = async (a: number, b: number) => {
  await close(a);
  await close(b);
};
`,
    'schema.sql': schema,
  };
  const units = async (...names: readonly string[]): Promise<unknown> => {
    const options = names.flatMap((name) => ['--unit', name]);
    const { code, out, err } = await runHere(
      ['analyze', 'src', '--schema', 'schema.sql', '--json', ...options],
      source,
    );
    if (code === 3) return err;
    return [
      ...new Set(
        (JSON.parse(out) as { transactions: { name: string }[] }).transactions.map(({ name }) => name.split(' ')[0]),
      ),
    ];
  };
  expect(await units()).toEqual(['closeTwo']);
  expect(await units('src/**/*.ts:sweep', 'src/jobs/*:close')).toEqual(['sweep', 'close', 'closeTwo']);
  expect(await units('src/*.ts:sweep')).toContain('no file of the source has the function of src/*.ts:sweep');
  expect(await units('sweep')).toContain('sweep names no function');
});

trafficTests();
