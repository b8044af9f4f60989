import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { deflateSync, gzipSync } from 'node:zlib';
import sharp, { type SharpOptions } from 'sharp';
import { type Clock, systemClock } from '#outside/clock.ts';
import {
  picture,
  plainPng,
  pngChunk,
  pngOf,
  sampleImage,
  webpCanvas,
  webpPicture,
} from '../../../test/harness/sample-image.ts';
import { DecodeFailure } from './image-decoder.ts';
import { imageSizes } from './image-name.ts';
import { processDecoder } from './process-decoder.ts';

/** The decoder's time limits are thirty times as long here: a slow machine must not fail the tests. */
const patientClock: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(30 * ms, signal) };

const decoder = processDecoder({ clock: patientClock });

/** Width and height of every size, after a check that each is a plain webp. */
async function shapesOf(bytes: Uint8Array): Promise<[number, number][]> {
  const { files } = await decoder.decode(bytes);
  assert.deepEqual(
    files.map((file) => file.size),
    [...imageSizes],
  );
  const shapes: [number, number][] = [];
  for (const file of files) {
    const { format, width, height, exif, icc, xmp, pages, space, depth } = await sharp(file.bytes).metadata();
    assert.deepEqual(
      { format, exif, icc, xmp, pages, space, depth },
      {
        format: 'webp',
        exif: undefined,
        icc: undefined,
        xmp: undefined,
        pages: undefined,
        space: 'srgb',
        depth: 'uchar',
      },
    );
    shapes.push([width, height]);
  }
  return shapes;
}

async function reasonOf(bytes: Uint8Array, by = decoder): Promise<string> {
  try {
    await by.decode(bytes);
    return 'an image';
  } catch (error) {
    if (error instanceof DecodeFailure) return error.reason;
    throw error;
  }
}

/** The colour at the centre of the upper left quarter. */
async function cornerOf(bytes: Uint8Array): Promise<number[]> {
  const { files } = await decoder.decode(bytes);
  const raw = await sharp(files[0]?.bytes)
    .removeAlpha()
    .extract({ left: 2, top: 2, width: 1, height: 1 })
    .raw();
  return [...(await raw.toBuffer())];
}

function assertNear(actual: readonly number[], expected: readonly number[]): void {
  const isNear = expected.every((value, index) => Math.abs(value - (actual[index] ?? -999)) < 24);
  assert.ok(isNear, `${actual} is not near ${expected}`);
}

describe('images are hosted in every size, never enlarged', () => {
  const large: [number, number][] = [
    [96, 64],
    [320, 213],
    [640, 427],
    [1280, 853],
  ];
  for (const type of ['jpeg', 'png', 'webp'] as const) {
    test(type, async () => {
      assert.deepEqual(await shapesOf(await sampleImage(type, 1500, 1000)), large);
    });
  }

  test('an image of one pixel keeps its size', async () => {
    assert.deepEqual(await shapesOf(await sampleImage('png', 1, 1)), Array(4).fill([1, 1]));
  });

  // proves W6.32
  test('25 megapixels are accepted, one row more is refused', async () => {
    assert.deepEqual(await shapesOf(plainPng(5000, 5000)), [
      [96, 96],
      [320, 320],
      [640, 640],
      [1280, 1280],
    ]);
    assert.equal(await reasonOf(plainPng(5000, 5001)), 'more than 25 megapixels');
  });

  test('the same picture in several file types is hosted as the same picture', async () => {
    assertNear(await cornerOf(await sampleImage('png', 200, 200)), [0x22, 0x33, 0xcc]);
    assertNear(await cornerOf(await sampleImage('jpeg', 200, 200)), [0x22, 0x33, 0xcc]);
  });
});

describe('unusual images are converted to plain ones', () => {
  test('an orientation is applied, and all EXIF data is removed, GPS included', async () => {
    const turned = await picture(100, 50)
      .jpeg()
      .withExif({ IFD0: { Artist: 'Florin' }, IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '51/1 30/1 0/1' } })
      .withMetadata({ orientation: 6 })
      .toBuffer();
    assert.equal((await sharp(turned).metadata()).orientation, 6);
    assert.deepEqual(await shapesOf(turned), [
      [48, 96],
      [50, 100],
      [50, 100],
      [50, 100],
    ]);
    // A quarter turn to the right moves the blue corner to the upper right.
    assertNear(await cornerOf(turned), [0xcc, 0x33, 0x22]);
  });

  test('CMYK', async () => {
    const cmyk = await picture(40, 40).toColourspace('cmyk').jpeg().toBuffer();
    assert.equal((await sharp(cmyk).metadata()).space, 'cmyk');
    assert.deepEqual(await shapesOf(cmyk), Array(4).fill([40, 40]));
  });

  test('16 bits, interlaced, with alpha', async () => {
    const deep = await picture(40, 40)
      .ensureAlpha(0.5)
      .toColourspace('rgb16')
      .png({ progressive: true })
      .toBuffer();
    assert.equal((await sharp(deep).metadata()).depth, 'ushort');
    assert.deepEqual(await shapesOf(deep), Array(4).fill([40, 40]));
  });

  test('an animation gives its first picture', async () => {
    const frames = await Promise.all(
      ['#10c020', '#c01020'].map((background) =>
        sharp({ create: { width: 30, height: 30, channels: 3, background } })
          .png()
          .toBuffer(),
      ),
    );
    const animated = await sharp(frames, { join: { animated: true } })
      .webp({ loop: 0, delay: [50, 50] })
      .toBuffer();
    assert.equal((await sharp(animated).metadata()).pages, 2);
    assert.deepEqual(await shapesOf(animated), Array(4).fill([30, 30]));
    assertNear(await cornerOf(animated), [0x10, 0xc0, 0x20]);
  });

  // proves W6.32
  test('data hidden behind or inside a real image is removed', async () => {
    const payload = '<script>alert(document.domain)</script>GIF89a%PDF-1.7PK\x03\x04';
    const comment = Buffer.from(`\xff\xfe${String.fromCharCode(0, payload.length + 2)}${payload}`, 'latin1');
    const jpeg = await sampleImage('jpeg', 30, 30);
    const png = await sampleImage('png', 30, 30);
    const polyglots = [
      Buffer.concat([jpeg.subarray(0, 2), comment, jpeg.subarray(2), Buffer.from(payload)]),
      Buffer.concat([png, Buffer.from(payload)]),
      Buffer.concat([png.subarray(0, 33), pngChunk('tEXt', Buffer.from(`a\0${payload}`)), png.subarray(33)]),
    ];
    for (const polyglot of polyglots) {
      const { files } = await decoder.decode(polyglot);
      for (const file of files) {
        const text = Buffer.from(file.bytes).toString('latin1');
        assert.equal(/script|GIF8|%PDF|PK/.test(text), false);
      }
    }
  });
});

describe('decompression bombs are refused before they are decompressed', () => {
  const zeros = deflateSync(Buffer.alloc(64 * 1024 * 1024));
  const row = deflateSync(Buffer.alloc(100 * 301));
  const bombs: [string, () => Buffer | Promise<Buffer>, string][] = [
    [
      'a png of 60,000 by 60,000',
      () => pngOf({ width: 60_000, height: 60_000, data: zeros }),
      'more than 25 megapixels',
    ],
    ['a webp of 6,000 by 5,000', () => webpPicture(6_000, 5_000), 'more than 25 megapixels'],
    // The loader allocates the whole picture before it reports the size, and the limit refuses the memory.
    ['a webp of 16,000 by 16,000', () => webpPicture(16_000, 16_000), 'damaged'],
    ['a webp of 60,000 by 60,000', () => webpCanvas(60_000, 60_000), 'damaged'],
    [
      'a png of the largest size there is',
      () => pngOf({ width: 2 ** 31 - 1, height: 2 ** 31 - 1, data: row }),
      'damaged',
    ],
    ['a webp canvas far larger than its picture', () => webpCanvas(4_000, 4_000), 'damaged'],
    ['a png without its rows', () => pngOf({ width: 5_000, height: 5_000, data: row }), 'damaged'],
  ];
  for (const [name, make, reason] of bombs) {
    test(name, async () => assert.equal(await reasonOf(await make()), reason));
  }

  test('image data, texts and profiles that decompress to far more than the image use no memory', async () => {
    const profile = pngChunk('iCCP', Buffer.concat([Buffer.from('a\0\0'), zeros]));
    const text = pngChunk('zTXt', Buffer.concat([Buffer.from('a\0\0'), zeros]));
    for (const bomb of [
      pngOf({ width: 100, height: 100, data: zeros }),
      pngOf({ width: 100, height: 100, data: row, before: profile }),
      pngOf({ width: 100, height: 100, data: row, before: text }),
    ]) {
      const peak = await peakOf(bomb);
      assert.ok(['an image', 'damaged'].includes(peak.outcome), peak.outcome);
      assert.ok(peak.kib === undefined || peak.kib < 160 * 1024, `${peak.kib} KiB`);
    }
  });
});

describe('only complete jpeg, png and webp files are images', () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>';
  const texts: [string, string][] = [
    ['nothing', ''],
    ['svg', svg],
    ['html', '<!doctype html><script>alert(1)</script>'],
    ['javascript', 'alert(1)'],
    ['gif', 'GIF89a\x01\0\x01\0\0\0\0;'],
    ['tiff', 'II*\0\x08\0\0\0\0\0'],
    ['avif', '\0\0\0 ftypavif\0\0\0\0avifmif1'],
    ['ico', '\0\0\x01\0\x01\0\x10\x10\0\0\x01\0\x20\0'],
    ['pdf', '%PDF-1.7\n%%EOF'],
    ['zip', 'PK\x03\x04\x14\0\0\0'],
    ['a packed png', gzipSync(plainPng(9, 9)).toString('latin1')],
    ['half a signature', '\x89PNG'],
  ];
  for (const [name, text] of texts) {
    test(name, async () =>
      assert.equal(await reasonOf(Buffer.from(text, 'latin1')), 'not a jpeg, png or webp image'),
    );
  }

  for (const [name, head] of [
    ['jpeg', '\xff\xd8\xff\xe0\0\x10JFIF\0'],
    ['png', '\x89PNG\r\n\x1a\n'],
    ['webp', 'RIFF\x40\0\0\0WEBP'],
  ] as const) {
    test(`${name} in its first bytes only`, async () => {
      for (const body of ['', svg, 'GIF89a\x01\0\x01\0\0\0\0;', '%PDF-1.7', 'PK\x03\x04']) {
        assert.equal(await reasonOf(Buffer.from(head + body, 'latin1')), 'damaged');
      }
    });
  }

  for (const type of ['jpeg', 'png', 'webp'] as const) {
    test(`a truncated ${type}`, async () => {
      const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const;
      const whole = await sharp({
        create: { width: 200, height: 200, channels: 3, noise },
      } as SharpOptions)
        .toFormat(type)
        .toBuffer();
      assert.equal(await reasonOf(whole), 'an image');
      assert.equal(await reasonOf(whole.subarray(0, Math.floor(whole.length * 0.6))), 'damaged');
    });
  }
});

/** The outcome of an image, and the decoder's largest resident memory where the system reports it. */
async function peakOf(bytes: Uint8Array): Promise<{ outcome: string; kib: number | undefined }> {
  let kib: number | undefined;
  let pid: number | undefined;
  const look = () => {
    if (pid === undefined) return;
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      kib = Math.max(kib ?? 0, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0));
    } catch {
      // The process has ended, or the system lacks /proc.
      pid = undefined;
    }
  };
  const timer = setInterval(look, 5);
  const measured = processDecoder({
    clock: patientClock,
    onStart: (started) => {
      pid = started;
    },
  });
  const outcome = await reasonOf(bytes, measured);
  clearInterval(timer);
  return { outcome, kib };
}

describe('a decoder process has hard limits', () => {
  /** The worst allowed image: 25 megapixels of 16 bits with alpha, interlaced, so that all of it is in memory. */
  const worst = picture(5000, 5000)
    .ensureAlpha(0.5)
    .toColourspace('rgb16')
    .png({ progressive: true })
    .toBuffer();

  test('the most expensive allowed image fits in the limits', async (t) => {
    const { outcome, kib } = await peakOf(await worst);
    t.diagnostic(
      `peak memory of the decoder for the worst image: ${kib === undefined ? 'unknown' : Math.round(kib / 1024)} MiB`,
    );
    assert.equal(outcome, 'an image');
  });

  test('with less memory the same image ends its process, not ours', {
    skip: process.platform !== 'linux',
  }, async () => {
    const poor = processDecoder({ clock: patientClock, addressSpaceKiB: 640 * 1024 });
    const [large, small] = await Promise.all([worst, sampleImage('png', 20, 20)]);
    assert.notEqual(await reasonOf(large, poor), 'an image');
    assert.equal(await reasonOf(small, poor), 'an image');
  });

  test('a decoder that takes too long is killed', async () => {
    const instantClock: Clock = { ...systemClock, sleep: async () => {} };
    const pids: number[] = [];
    const timed = processDecoder({ clock: instantClock, onStart: (pid) => pids.push(pid) });
    assert.equal(await reasonOf(await worst, timed), 'too costly to decode');
    const [pid = 0] = pids;
    await gone(pid);
  });

  test('a decoder that is killed fails no other image', async () => {
    const pids: number[] = [];
    const watched = processDecoder({ clock: patientClock, onStart: (pid) => pids.push(pid) });
    const [large, small] = await Promise.all([worst, sampleImage('png', 20, 20)]);
    const outcomes = [reasonOf(large, watched), reasonOf(small, watched), reasonOf(small, watched)];
    while (pids.length === 0) await systemClock.sleep(1);
    process.kill(pids[0] ?? 0, 'SIGKILL');
    assert.deepEqual(await Promise.all(outcomes), ['too costly to decode', 'an image', 'an image']);
  });

  test('a decoder process gets nothing of our environment', {
    skip: process.platform !== 'linux',
  }, async () => {
    process.env['FLORIN_TEST_SECRET'] = 'secret';
    let environment = '';
    const watched = processDecoder({
      clock: systemClock,
      onStart: (pid) => {
        environment = readFileSync(`/proc/${pid}/environ`, 'latin1');
      },
    });
    await watched.decode(await sampleImage('png', 20, 20));
    delete process.env['FLORIN_TEST_SECRET'];
    assert.equal(environment.includes('secret'), false);
  });

  test('a closed decoder decodes nothing', async () => {
    const closed = processDecoder({ clock: patientClock });
    await closed.close();
    assert.equal(await reasonOf(await sampleImage('png', 20, 20), closed), 'could not be decoded now');
  });
});

/** Waits until a process has ended. */
async function gone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      // No such process: it has ended.
      return;
    }
    await systemClock.sleep(5);
  }
}
