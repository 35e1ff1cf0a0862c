"""The exceptions of the lab."""


class LabError(RuntimeError):
    """A lab could not be built, found or measured; the text is a sentence for the user."""


class LabUnavailable(LabError):
    """This machine does not permit a lab at all, for the reason in the text.

    Callers that can do without real links catch this one and fall back to loopback.
    """
