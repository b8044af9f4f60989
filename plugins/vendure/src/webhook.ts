import { expressWebhook } from '@florin/sdk/webhooks';
import { Controller, Inject, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { FLORIN, type FlorinConnection } from './options';
import { FlorinRecording } from './recording';

/** Where Florin sends its events. */
export const webhookPath = 'payments/florin';

@Controller(webhookPath)
export class FlorinWebhook {
  private readonly receive: ReturnType<typeof expressWebhook>;

  constructor(@Inject(FLORIN) { options }: FlorinConnection, recording: FlorinRecording) {
    this.receive = expressWebhook({ secret: options.webhookKey }, (event) => recording.take(event));
  }

  /** 204 once the event is recorded, 400 for what Florin has not signed, and 500 for what is to come again. */
  @Post()
  async take(@Req() request: Request, @Res() response: Response): Promise<void> {
    await this.receive(request, response);
  }
}
