import { describe, expect, test } from 'vitest';
import { authResponse, isAuthPlugin, isAuthResponse } from './auth.ts';

const salt = Buffer.from('0123456789abcdefghij');

describe.each(['mysql_native_password', 'caching_sha2_password'] as const)('%s', (plugin) => {
  test('accepts the password and nothing else', () => {
    const proof = authResponse(plugin, 'secret', salt);
    expect(isAuthResponse(plugin, 'secret', salt, proof)).toBe(true);
    expect(isAuthResponse(plugin, 'Secret', salt, proof)).toBe(false);
    expect(isAuthResponse(plugin, 'secret', Buffer.from('another salt of 20 b'), proof)).toBe(false);
    expect(isAuthResponse(plugin, 'secret', salt, proof.subarray(1))).toBe(false);
    expect(isAuthResponse(plugin, 'secret', salt, new Uint8Array())).toBe(false);
  });

  test('proves an empty password with nothing', () => {
    expect(authResponse(plugin, '', salt)).toHaveLength(0);
    expect(isAuthResponse(plugin, '', salt, new Uint8Array())).toBe(true);
    expect(isAuthResponse(plugin, '', salt, Uint8Array.of(1))).toBe(false);
  });
});

// Computed by mysql2's client for this password and salt.
test.each([
  ['mysql_native_password', 'f5cac3f3b3df2133feb57db682c71e6ed433a988'],
  ['caching_sha2_password', '7e4adda2f2d5ef09b4147518becb0cee2939376203650a8c2bb2815959364bd0'],
] as const)('%s is what drivers send', (plugin, expected) => {
  expect(Buffer.from(authResponse(plugin, 'secret', salt)).toString('hex')).toBe(expected);
});

test('other plug-ins are not known', () => {
  expect(isAuthPlugin('client_ed25519')).toBe(false);
  expect(isAuthPlugin('mysql_native_password')).toBe(true);
});
