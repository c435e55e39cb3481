/** `moirai record`: a proxy in front of a database server that writes a trace, until it is interrupted. */
import type { Command } from '@commander-js/extra-typings';
import { InputError } from '../../base/index.ts';
import type { Dialect } from '../../sql/model/index.ts';
import type { ExitCode, Host } from '../host.ts';
import { wholeNumber } from '../options/option-values.ts';

interface RecordOptions {
  readonly listen: number;
  readonly host: string;
  readonly upstream: string;
  readonly out: string;
  readonly statements?: boolean;
  readonly clockSource?: string;
}

export function addRecord(moirai: Command, host: Host, end: (code: ExitCode) => void): void {
  moirai
    .command('record')
    .description(
      'A proxy in front of a PostgreSQL or MySQL server that records what its clients read and write, and when.',
    )
    .requiredOption('--upstream <url>', 'the server: postgres://HOST:PORT or mysql://HOST:PORT')
    .option('--listen <port>', 'where clients connect instead; 0 takes a free port', wholeNumber('listen', 0), 0)
    .option('--host <address>', 'where to listen; other machines reach only what is not loopback', '127.0.0.1')
    .option('--out <file>', 'the trace; - is standard output', '-')
    .option('--statements', 'keep every statement with its values and rows, for moirai analyze')
    .option(
      '--clock-source <address>',
      'HOST:PORT of moirai clock, whose time is taken: for recorders on several machines',
    )
    .option('--debug', 'print the stack of an error')
    .addHelpText('after', recordHelp)
    .action(async (options) => {
      end(await recordCommand(options, host));
    });
}

async function recordCommand(options: RecordOptions, host: Host): Promise<ExitCode> {
  const upstream = parseServerUrl(options.upstream);
  const { startProxy, startTraceRecording } = await import('../../capture/index.ts');
  const warn = (message: string): void => host.err(`${message}\n`);
  const { clockSource, statements: keepsStatements = false } = options;
  const { recording, close } = await startTraceRecording(options.out, warn, { clockSource, keepsStatements });
  try {
    const { dialect, hostname: upstreamHost, port: upstreamPort } = upstream;
    const { host: address, listen: port } = options;
    const proxy = await startProxy({ dialect, upstreamHost, upstreamPort, host: address, port, recording, warn });
    host.err(
      `recording ${options.out === '-' ? 'to standard output' : `to ${options.out}`}: clients connect to ${address}:${proxy.port}\nCtrl-C ends it\n`,
    );
    await host.untilInterrupted();
    await proxy.close();
  } catch (error) {
    close();
    throw error;
  }
  const failure = close();
  if (failure !== null) throw failure;
  return 0;
}

export interface ServerUrl {
  readonly dialect: Dialect;
  readonly hostname: string;
  readonly port: number;
  /** `''` where the URL has none; so for the next two. */
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

const defaultPorts: Readonly<Record<Dialect, number>> = { postgres: 5432, mysql: 3306 };

/** An error's text may come to a log. */
function withoutPassword(url: string): string {
  return url.replace(/(:\/\/[^:/@]*):.*@/, '$1:...@');
}

/** @throws InputError `option/url` */
export function parseServerUrl(text: string): ServerUrl {
  const url = URL.canParse(text) ? new URL(text) : null;
  const dialect = /^postgres(?:ql)?:$/.test(url?.protocol ?? '')
    ? 'postgres'
    : /^(?:mysql|mariadb):$/.test(url?.protocol ?? '')
      ? 'mysql'
      : null;
  if (url === null || dialect === null || url.hostname === '')
    throw new InputError(
      'option/url',
      `${JSON.stringify(withoutPassword(text))} is no URL of a server: postgres://HOST:PORT or mysql://HOST:PORT, special characters of a password as %XX`,
    );
  const port = url.port === '' ? defaultPorts[dialect] : Number(url.port);
  return {
    dialect,
    hostname: url.hostname.replace(/^\[|\]$/g, ''),
    port,
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)),
  };
}

const recordHelp = `
Bytes pass unchanged; the proxy reads beside. It offers no encryption, which it could not read. For applications on Node.js there is a
recorder without a proxy:  MOIRAI_TRACE=run.trace.jsonl node --import moirai/record app.js

Examples:
  moirai record --listen 6432 --upstream postgres://localhost:5432 --out run.trace.jsonl
  moirai record --statements --listen 6432 --upstream postgres://localhost:5432 --out run.trace.jsonl
  moirai analyze run.trace.jsonl --schema schema.sql
  moirai record --upstream mysql://db.test:3306 | moirai verify - --engine innodb --isolation 'repeatable read'

Exit codes: 0 the trace is whole, 3 bad input or usage, or the trace could not be written whole, 4 a failure of moirai itself.
`;
