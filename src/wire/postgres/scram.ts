/**
 * SCRAM-SHA-256, both sides: RFC 5802 and RFC 7677, without channel binding; manual, "SASL Authentication". The user's name inside SCRAM
 * is passed over, as PostgreSQL does: the one of the start-up counts. Nonces and salts are random bytes that the caller brings.
 */
import { createHash, createHmac, pbkdf2Sync, timingSafeEqual } from 'node:crypto';
import { WireError } from '../index.ts';
import { decodeUtf8 } from './body-reader.ts';

export const scramMechanism = 'SCRAM-SHA-256';

/** What a server keeps of a password. */
export interface ScramVerifier {
  readonly salt: Uint8Array;
  readonly iterations: number;
  readonly storedKey: Uint8Array;
  readonly serverKey: Uint8Array;
}

/** @param iterations RFC 7677 asks for at least 4096 */
export function scramVerifier(password: string, salt: Uint8Array, iterations = 4096): ScramVerifier {
  const salted = pbkdf2Sync(normalizePassword(password), salt, iterations, 32, 'sha256');
  return { salt, iterations, storedKey: hash(hmac(salted, 'Client Key')), serverKey: hmac(salted, 'Server Key') };
}

export interface ScramChallenge {
  /** The server's first message. */
  readonly data: Uint8Array;
  /** @returns the server's final message, or `null`: the password is wrong. @throws WireError the message is not SCRAM's */
  readonly verify: (clientFinal: Uint8Array) => Uint8Array | null;
}

/** The server's side. @param nonce printable, without commas @throws WireError the client's first message is not SCRAM's */
export function scramChallenge(clientFirst: Uint8Array, verifier: ScramVerifier, nonce: string): ScramChallenge {
  const { header, bare, clientNonce } = parseClientFirst(decodeUtf8(clientFirst));
  const fullNonce = `${clientNonce}${nonce}`;
  const salt = Buffer.from(verifier.salt).toString('base64');
  const serverFirst = `r=${fullNonce},s=${salt},i=${verifier.iterations}`;
  return {
    data: Buffer.from(serverFirst),
    verify: (clientFinal) => {
      const { withoutProof, channel, nonce: answered, proof } = parseClientFinal(decodeUtf8(clientFinal));
      if (channel !== Buffer.from(header).toString('base64')) throw malformed('unexpected channel binding');
      if (answered !== fullNonce) throw malformed('the nonce is not the one that was sent');
      const authMessage = `${bare},${serverFirst},${withoutProof}`;
      const clientKey = xor(proof, hmac(verifier.storedKey, authMessage));
      if (!timingSafeEqual(hash(clientKey), verifier.storedKey)) return null;
      return Buffer.from(`v=${hmac(verifier.serverKey, authMessage).toString('base64')}`);
    },
  };
}

/** The client's first message, in answer to the list of mechanisms. @param nonce printable, without commas */
export function scramClientFirst(nonce: string): Uint8Array {
  return Buffer.from(`n,,n=,r=${nonce}`);
}

export interface ScramClientFinal {
  readonly data: Uint8Array;
  /** Does the server know the password too? */
  readonly verify: (serverFinal: Uint8Array) => boolean;
}

/** The client's final message, in answer to the server's first. @throws WireError the server's message is not SCRAM's */
export function scramClientFinal(nonce: string, password: string, serverFirstData: Uint8Array): ScramClientFinal {
  const serverFirst = decodeUtf8(serverFirstData);
  const match = /^r=([^,]+),s=([A-Za-z0-9+/]+={0,2}),i=([1-9]\d{0,6})$/.exec(serverFirst);
  if (match === null || !(match[1] as string).startsWith(nonce)) throw malformed('the first message of the server');
  const withoutProof = `c=biws,r=${match[1]}`;
  const authMessage = `n=,r=${nonce},${serverFirst},${withoutProof}`;
  const salt = Buffer.from(match[2] as string, 'base64');
  const salted = pbkdf2Sync(normalizePassword(password), salt, Number(match[3]), 32, 'sha256');
  const clientKey = hmac(salted, 'Client Key');
  const proof = xor(clientKey, hmac(hash(clientKey), authMessage)).toString('base64');
  const signature = hmac(hmac(salted, 'Server Key'), authMessage).toString('base64');
  return {
    data: Buffer.from(`${withoutProof},p=${proof}`),
    verify: (serverFinal) => Buffer.from(serverFinal).equals(Buffer.from(`v=${signature}`)),
  };
}

function parseClientFirst(text: string): { header: string; bare: string; clientNonce: string } {
  const match = /^([ny],(?:a=[^,]*)?,)(n=[^,]*,r=([\x21-\x2b\x2d-\x7e]+)(?:,.*)?)$/s.exec(text);
  if (match === null) throw malformed('the first message of the client');
  return { header: match[1] as string, bare: match[2] as string, clientNonce: match[3] as string };
}

function parseClientFinal(text: string): { withoutProof: string; channel: string; nonce: string; proof: Buffer } {
  const match = /^(c=([A-Za-z0-9+/=]*),r=([\x21-\x2b\x2d-\x7e]+)(?:,[^,]*)*),p=([A-Za-z0-9+/]{43}=)$/s.exec(text);
  if (match === null) throw malformed('the final message of the client');
  const proof = Buffer.from(match[4] as string, 'base64');
  return { withoutProof: match[1] as string, channel: match[2] as string, nonce: match[3] as string, proof };
}

/**
 * SASLprep (RFC 4013) as far as passwords differ by it: other spaces become a space, what is mapped to nothing goes, then NFKC. Characters
 * that it forbids stay, which is what PostgreSQL does with passwords that are not valid.
 */
function normalizePassword(password: string): string {
  return password
    .replace(/[\u00a0\u1680\u2000-\u200b\u202f\u205f\u3000]/g, ' ')
    .replace(/\u00ad|\u034f|\u1806|[\u180b-\u180d]|\u200c|\u200d|\u2060|[\ufe00-\ufe0f]|\ufeff/g, '')
    .normalize('NFKC');
}

function malformed(what: string): WireError {
  return new WireError('malformed', `SCRAM: ${what}`);
}

function hmac(key: Uint8Array, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function hash(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}

function xor(a: Uint8Array, b: Uint8Array): Buffer {
  return Buffer.from(a.map((byte, i) => byte ^ (b[i] as number)));
}
