# backend/packaging: a wheel, a Debian package, a pkg-config file.
pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = %D%/shunt.pc
EXTRA_DIST += %D%/METADATA.in %D%/debian

# The wheel is what `make install-strip` installs, and a few lines of Python.
WHEEL_ROOT = $(abs_builddir)/wheel.root
wheel: all
	rm -rf $(WHEEL_ROOT) shunt-*.whl
	$(MAKE) install-strip DESTDIR=$(WHEEL_ROOT) >/dev/null
	python3 $(srcdir)/%D%/wheel.py --version=$(PACKAGE_VERSION) \
	  --bindir=$(WHEEL_ROOT)$(bindir) --libdir=$(WHEEL_ROOT)$(libdir) \
	  --pkglibdir=$(WHEEL_ROOT)$(pkglibdir) --includedir=$(WHEEL_ROOT)$(includedir) \
	  --mandir=$(WHEEL_ROOT)$(mandir) --gomp="$$($(CC) -print-file-name=libgomp.so.1)"
	rm -rf $(WHEEL_ROOT)

# From the tarball, as a distribution builds it, with this tree's choice of CUDA.
if HAVE_CUDA
DEB_CONFIGURE = --with-cuda=$(CUDA_DIR) --with-cuda-arch=$(CUDA_ARCH)
else
DEB_CONFIGURE = --without-cuda
endif
deb: dist
	rm -rf deb && $(MKDIR_P) deb
	tar -xzf $(distdir).tar.gz -C deb
	cp -R $(srcdir)/%D%/debian deb/$(distdir)/debian
	cd deb/$(distdir) && SHUNT_CONFIGURE='$(DEB_CONFIGURE)' dpkg-buildpackage -us -uc -b
	rm -rf deb/$(distdir)
	ls deb/*.deb

# Installs each where there is nothing else.  A test says so, and passes, where it lacks a tool.
check-packages: wheel
	SHUNT_SRCDIR=$(srcdir) $(SHELL) $(srcdir)/tests/packaging/cuda.sh
	$(SHELL) $(srcdir)/tests/packaging/wheel.sh shunt-$(PACKAGE_VERSION)-*.whl
	$(SHELL) $(srcdir)/tests/packaging/install.sh .
	$(SHELL) $(srcdir)/tests/packaging/root.sh .
.PHONY: wheel deb check-packages
