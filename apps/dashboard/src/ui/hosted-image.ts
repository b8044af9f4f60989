const hostedPath = /\/images\/[0-9A-Za-z]+-\d+\.webp$/;

/**
 * Where this page reads a hosted image, in one of the service's sizes. The path alone: the page may have another name for
 * the service's origin. Undefined for an image elsewhere, which the page does not load.
 */
export function hostedImagePath(url: string, size: 96 | 320): string | undefined {
  return hostedPath.exec(url)?.[0].replace(/-\d+\.webp$/, `-${size}.webp`);
}
