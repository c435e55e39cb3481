/** Who may connect: a password that other users of the machine do not see, and a server that other machines reach only by intent. */
import { isIPv4 } from 'node:net';
import { InputError } from '../../base/index.ts';
import { textOf } from './text-of.ts';

interface AccessOptions {
  readonly host: string;
  readonly password?: string;
  readonly passwordFile?: string;
  readonly insecure?: boolean;
}

/** By an option, a file or the environment. @throws InputError `option/password`, `serve/file` */
export async function passwordOf(
  { password, passwordFile }: AccessOptions,
  { MOIRAI_PASSWORD: ofEnvironment }: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  if (password !== undefined && passwordFile !== undefined)
    throw new InputError('option/password', 'give --password or --password-file, not both');
  const given = passwordFile === undefined ? (password ?? ofEnvironment) : await firstLine(passwordFile);
  if (given === '') throw new InputError('option/password', 'the password is empty');
  return given;
}

async function firstLine(file: string): Promise<string> {
  const [line = ''] = (await textOf(file)).split(/\r?\n/);
  return line;
}

/** @throws InputError `option/host`: other machines reach it, and there is no password */
export function checkReachable({ host, insecure = false }: AccessOptions, password: string | undefined): void {
  if (password !== undefined || insecure || isLoopback(host)) return;
  throw new InputError(
    'option/host',
    `other machines may reach ${host}: ask for a password (--password-file FILE, MOIRAI_PASSWORD), or say --insecure`,
  );
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}
