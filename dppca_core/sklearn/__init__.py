"""Private PCA as a scikit-learn transformer: any private method of the registry, in a Pipeline.

The mathematics is that of the methods (`dppca_core.methods`) and of `dppca_core.mechanisms.eigenvalues`.
"""

from dppca_core.sklearn.private_pca import PrivatePCA

__all__ = ["PrivatePCA"]
