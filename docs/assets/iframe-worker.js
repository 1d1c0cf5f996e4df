// Search runs in a worker, and browsers start none from a file of the disk: there a hidden frame plays it.
if (location.protocol === "file:") {
  window.Worker = class FrameWorker extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      const inner = (this.inner = frame.contentWindow);
      this.waiting = [];
      inner.document.open();
      inner.document.write("<!doctype html><title>Search</title>");
      inner.document.close();
      inner.postMessage = (data) => {
        const event = new MessageEvent("message", { data });
        this.dispatchEvent(event);
        if (this.onmessage) this.onmessage(event);
      };
      inner.importScripts = (...urls) => Promise.all(urls.map((one) => this.load(one)));
      this.load(url).then(() => {
        this.loaded = true;
        this.waiting.forEach((data) => this.deliver(data));
        this.waiting = [];
      });
    }

    load(url) {
      return new Promise((resolve, reject) => {
        const script = this.inner.document.createElement("script");
        script.src = new URL(url, document.baseURI).href;
        script.onload = resolve;
        script.onerror = reject;
        this.inner.document.body.appendChild(script);
      });
    }

    deliver(data) {
      this.inner.dispatchEvent(new this.inner.MessageEvent("message", { data }));
    }

    postMessage(data) {
      if (this.loaded) this.deliver(data);
      else this.waiting.push(data);
    }

    terminate() {
      this.inner.frameElement.remove();
    }
  };
}
