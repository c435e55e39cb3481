/**
 * Who may send requests. A browser sends what any page asks for, without a question before where a form could send it, and to a name that the page's owner
 * has pointed at this machine (DNS rebinding). So a request has to name this server as no such page can, come from no other origin, and say that it is JSON.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { HttpError } from './http-error.ts';

export interface SenderOptions {
  /** Asked for as `Authorization: Bearer`. Default: none. */
  readonly password?: string;
  /** The name that this server has for its clients, beside `localhost` and addresses. Default: no other. */
  readonly host?: string;
}

/** @throws HttpError 401, 403, 415 */
export function checkSender(headers: IncomingHttpHeaders, { password, host }: SenderOptions): void {
  if (password === undefined) checkHost(headers.host, host);
  else if (!isAuthorized(headers, password))
    throw new HttpError(401, 'http/password', 'the header "Authorization: Bearer PASSWORD" is missing or wrong');
  if (headers.origin !== undefined && headers.origin !== `http://${headers.host}`)
    throw new HttpError(403, 'http/origin', `a page of ${headers.origin} may send nothing here`);
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  const [type = ''] = (headers['content-type'] ?? '').split(';');
  if (hasBody && type.trim().toLowerCase() !== 'application/json')
    throw new HttpError(415, 'http/content-type', 'a body needs the header "Content-Type: application/json"');
}

/** Names can be pointed at any address, addresses cannot. */
function checkHost(header: string | undefined, own: string | undefined): void {
  const url = `http://${header ?? ''}`;
  const name = URL.canParse(url) ? new URL(url).hostname.replaceAll(/^\[|\]$/g, '') : '';
  if (isIP(name) !== 0 || name === 'localhost' || name.endsWith('.localhost') || name === own?.toLowerCase()) return;
  throw new HttpError(
    403,
    'http/host',
    `${JSON.stringify(name)} is not the name of this server: ask for its address, or start it with a password`,
  );
}

/** Digests have one length, so that the comparison tells nothing of the password. */
function isAuthorized({ authorization = '' }: IncomingHttpHeaders, password: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(authorization), digest(`Bearer ${password}`));
}
