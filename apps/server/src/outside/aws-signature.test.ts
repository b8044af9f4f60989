import assert from 'node:assert/strict';
import { test } from 'node:test';
import { amzDate, authorizationOf, encodeRfc3986, type SignableRequest, sha256Hex } from './aws-signature.ts';

/** "Signature Calculations for the Authorization Header", Amazon S3 API Reference. */
const s3 = {
  credentials: {
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  },
  scope: { region: 'us-east-1', service: 's3' },
  date: '20130524T000000Z',
  host: 'examplebucket.s3.amazonaws.com',
};
const emptyHash = sha256Hex('');

function ofS3(
  request: Omit<SignableRequest, 'headers'> & { headers?: Record<string, string> },
): SignableRequest {
  return {
    ...request,
    headers: {
      host: s3.host,
      'x-amz-content-sha256': request.bodyHash,
      'x-amz-date': s3.date,
      ...request.headers,
    },
  };
}

const s3Vectors: [string, SignableRequest, string][] = [
  [
    'GET with a range',
    ofS3({ method: 'GET', path: '/test.txt', headers: { range: 'bytes=0-9' }, bodyHash: emptyHash }),
    'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  ],
  [
    'PUT of an object',
    ofS3({
      method: 'PUT',
      path: '/test%24file.text',
      headers: { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
      bodyHash: sha256Hex('Welcome to Amazon S3.'),
    }),
    '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
  ],
  [
    'GET with a parameter without a value',
    ofS3({ method: 'GET', path: '/', query: [['lifecycle', '']], bodyHash: emptyHash }),
    'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
  ],
  [
    'GET with two parameters',
    ofS3({
      method: 'GET',
      path: '/',
      query: [
        ['prefix', 'J'],
        ['max-keys', '2'],
      ],
      bodyHash: emptyHash,
    }),
    '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  ],
];
for (const [name, request, signature] of s3Vectors) {
  test(`the signature of the published S3 example: ${name}`, () => {
    const names = Object.keys(request.headers).sort().join(';');
    assert.equal(
      authorizationOf(request, s3.scope, s3.credentials),
      `AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=${names}, Signature=${signature}`,
    );
  });
}

/** The published test suite of Signature Version 4, "get-vanilla" and its kin. */
const suiteVectors: [string, Partial<SignableRequest>, string][] = [
  ['get-vanilla', {}, '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  ['post-vanilla', { method: 'POST' }, '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
  [
    'get-vanilla-query-order-key-case',
    {
      query: [
        ['Param2', 'value2'],
        ['Param1', 'value1'],
      ],
    },
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  ],
];
for (const [name, change, signature] of suiteVectors) {
  test(`the signature of the published suite: ${name}`, () => {
    const request: SignableRequest = {
      method: 'GET',
      path: '/',
      headers: { host: 'example.amazonaws.com', 'x-amz-date': '20150830T123600Z' },
      bodyHash: emptyHash,
      ...change,
    };
    const authorization = authorizationOf(
      request,
      { region: 'us-east-1', service: 'service' },
      { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' },
    );
    assert.equal(authorization.slice(authorization.lastIndexOf('=') + 1), signature);
  });
}

test('times and texts are written as the signature wants them', () => {
  assert.equal(amzDate(new Date('2013-05-24T00:00:00.999Z')), '20130524T000000Z');
  assert.equal(encodeRfc3986("a-._~ /!'()*ä"), 'a-._~%20%2F%21%27%28%29%2A%C3%A4');
});
