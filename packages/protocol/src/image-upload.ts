/** The one operation of the dashboard whose body is no JSON: a jpeg, png or webp image of at most 5 MB. */
export const imageUpload = { method: 'POST', path: '/image/upload' } as const;

/** `data` of its answer. */
export interface ImageUploaded {
  /** Of the hosted image, to be named by a product or a brand. */
  readonly imageUrl: string;
}
