/**
 * Passwords without the password: the client proves with a hash over the server's random salt that it knows it.
 * MySQL Internals, "Secure Password Authentication" and "Caching_sha2_password information".
 */
import { createHash, timingSafeEqual } from 'node:crypto';

export const saltBytes = 20;

/** The plug-ins whose proof can be computed and verified from the password. */
export type AuthPlugin = 'mysql_native_password' | 'caching_sha2_password';

export function isAuthPlugin(name: string): name is AuthPlugin {
  return name === 'mysql_native_password' || name === 'caching_sha2_password';
}

/** What a client answers; nothing for the empty password. `salt`: 20 bytes. */
export function authResponse(plugin: AuthPlugin, password: string, salt: Uint8Array): Uint8Array {
  if (password === '') return new Uint8Array();
  if (plugin === 'mysql_native_password') {
    const once = hash('sha1', password);
    return xor(once, hash('sha1', salt, hash('sha1', once)));
  }
  const once = hash('sha256', password);
  return xor(once, hash('sha256', hash('sha256', once), salt));
}

/** Takes the same time wherever the proofs differ. */
export function isAuthResponse(plugin: AuthPlugin, password: string, salt: Uint8Array, response: Uint8Array): boolean {
  const expected = authResponse(plugin, password, salt);
  return expected.length === response.length && timingSafeEqual(expected, response);
}

function hash(algorithm: 'sha1' | 'sha256', ...parts: readonly (string | Uint8Array)[]): Uint8Array {
  const digest = createHash(algorithm);
  for (const part of parts) digest.update(part);
  return digest.digest();
}

function xor(a: Uint8Array, b: Uint8Array): Uint8Array {
  return a.map((byte, i) => byte ^ (b[i] ?? 0));
}
