"""From a folder of labelled sets to a model folder: how the default model is made (`pretrain`)."""

from sce_desktop.research.pretrain.run import Trained, run

__all__ = ["Trained", "run"]
