import type { Queryable, Transaction } from '@florin/pg';
import type { Product } from '@florin/protocol/product.ts';
import { dropDownload, insertImage, putDownload, touchImage } from './image.sql.ts';

/** The state of the image that a merchant named for a product. Merchants see the reasons. */
export type ProductImage =
  | { readonly status: 'none' }
  | { readonly status: 'hosted'; readonly name: string; readonly url: string }
  /** The download failed and is retried in the background. */
  | { readonly status: 'pending'; readonly sourceUrl: string; readonly reason: string }
  | { readonly status: 'failed'; readonly reason: string };

export const noImage: ProductImage = { status: 'none' };

/** Waits before each retry, in milliseconds: 24 hours and 11 minutes in all. */
export const retryDelaysMs = [60_000, 600_000, 3_600_000, 21_600_000, 61_200_000] as const;

/** Values of a product's row. */
export function imageValues(image: ProductImage) {
  const { name, url } = image.status === 'hosted' ? image : { name: '', url: '' };
  const reason = 'reason' in image ? image.reason : '';
  return { imageStatus: image.status, imageReason: reason, imageName: name, imageUrl: url };
}

/** Reads image_status of a product's row. */
export function imageStatusOf(text: string): Product['imageStatus'] {
  const found = (['none', 'hosted', 'pending', 'failed'] as const).find((status) => status === text);
  if (found === undefined) throw new Error(`the image of a product is ${text}`);
  return found;
}

/**
 * Updates the data of a product's image outside the product's row, which the caller has locked or inserted. Older
 * retries end, a pending image gets its first retry, and the replaced image counts as unused from now on.
 */
export async function replaceImage(
  transaction: Transaction,
  product: { merchantId: string; productId: string; oldName: string; at: Date },
  image: ProductImage,
): Promise<void> {
  const { merchantId, productId, oldName, at } = product;
  await transaction.query(dropDownload, { productId });
  if (image.status === 'pending') {
    const nextAt = new Date(at.getTime() + retryDelaysMs[0]);
    await transaction.query(putDownload, {
      productId,
      merchantId,
      sourceUrl: image.sourceUrl,
      nextAt,
      createdAt: at,
    });
  }
  const name = image.status === 'hosted' ? image.name : '';
  if (oldName !== '' && oldName !== name)
    await transaction.query(touchImage, { imageName: oldName, merchantId, touchedAt: at });
}

/** Inserts an image before its files are stored. False while an image of that name is being removed. */
export async function insertHostedImage(
  queryable: Queryable,
  image: { merchantId: string; name: string; at: Date },
): Promise<boolean> {
  const rows = await queryable.query(insertImage, {
    imageName: image.name,
    merchantId: image.merchantId,
    touchedAt: image.at,
  });
  return rows.length > 0;
}

/** Marks a hosted image of the merchant as used. False when there is none of that name. */
export async function touchHostedImage(
  queryable: Queryable,
  image: { merchantId: string; name: string; at: Date },
): Promise<boolean> {
  const rows = await queryable.query(touchImage, {
    imageName: image.name,
    merchantId: image.merchantId,
    touchedAt: image.at,
  });
  return rows.length > 0;
}
